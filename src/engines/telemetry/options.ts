import * as z from "zod";

export const observabilityOptions = z.strictObject({
  enabled: z.boolean().default(true).describe("Master switch: off means no log, no metrics, no token audit."),
  log_format: z.enum(["json", "text"]).default("json").describe("How log records look on stderr."),
  log_level: z
    .enum(["debug", "info", "warn", "error"])
    .default("info")
    .describe("Records below this level are not written."),
  include_correlation_id: z
    .boolean()
    .default(true)
    .describe("Carry the correlation id in log records and error replies."),
  metrics_enabled: z.boolean().default(true).describe("Count calls, errors, latency and tokens (get_metrics)."),
  metrics_prometheus_enabled: z.boolean().default(true).describe("Offer the metrics at metrics_path over HTTP."),
  metrics_path: z.string().startsWith("/").default("/metrics").describe("Where Prometheus finds them; needs a token."),
  csv_token_audit_enabled: z.boolean().default(false).describe("Append one row of token counts per call to csv_path."),
  csv_path: z.string().default("artifacts/token_audit.csv").meta({ path: true }).describe("The token audit's file."),
  retention_days: z
    .int()
    .min(0)
    .default(0)
    .describe("Days after which token audit rows and rotated audit files are removed; 0 keeps them."),
});

export const auditOptions = z.strictObject({
  enabled: z
    .boolean()
    .default(true)
    .describe("Write one JSON line per call: who, what, which paths, which rule, how long."),
  path: z
    .string()
    .optional()
    .meta({ path: true })
    .describe("The audit's file; default audit/audit.jsonl in the state folder."),
  rotate_mb: z.number().positive().default(64).describe("A new file is begun when the audit reaches this size."),
});

export type ObservabilityOptions = z.output<typeof observabilityOptions>;
export type AuditOptions = z.output<typeof auditOptions>;
