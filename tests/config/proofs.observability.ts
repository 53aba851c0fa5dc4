import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { auditFile, differ, type Proof, ran } from "./proof.ts";

async function logged(config: string): Promise<string> {
  return (await ran(config, ["call", "stat", '{"path":"a.txt"}'])).stderr;
}

export const OBSERVABILITY_PROOFS: Record<string, Proof> = {
  "mcp.observability.enabled": async () => [
    (await logged("")) === "",
    (await logged("[mcp.observability]\nenabled = false\n")) === "",
  ],
  "mcp.observability.log_format": async () => [
    (await logged("")).startsWith("{"),
    (await logged("[mcp.observability]\nlog_format = 'text'\n")).startsWith("{"),
  ],
  "mcp.observability.log_level": async () => [
    (await logged("")) === "",
    (await logged("[mcp.observability]\nlog_level = 'error'\n")) === "",
  ],
  "mcp.observability.include_correlation_id": differ(
    (bed) => bed.text("stat", { path: "gone" }).then((text) => text.includes("correlation_id")),
    "mcp.observability.include_correlation_id = false",
  ),
  "mcp.observability.metrics_enabled": differ(async (bed) => {
    await bed.call("stat", { path: "a.txt" });
    return (await bed.payload<{ calls: number }>("get_metrics")).calls;
  }, "mcp.observability.metrics_enabled = false"),
  "mcp.observability.csv_token_audit_enabled": differ(async (bed) => {
    await bed.call("stat", { path: "a.txt" });
    await bed.app.close();
    return existsSync(join(bed.root, "artifacts/token_audit.csv"));
  }, "mcp.observability.csv_token_audit_enabled = true"),
  "mcp.observability.csv_path": differ(
    async (bed) => {
      await bed.call("stat", { path: "a.txt" });
      await bed.app.close();
      return existsSync(join(bed.root, "tokens.csv"));
    },
    "mcp.observability.csv_path = 'tokens.csv'",
    "[mcp.observability]\ncsv_token_audit_enabled = true\n",
  ),
  "mcp.observability.retention_days": differ(async (bed) => {
    mkdirSync(join(bed.root, ".llmc/audit"), { recursive: true });
    const old = join(bed.root, ".llmc/audit/audit-2020-01-01T00-00-00-000Z-1.jsonl");
    writeFileSync(old, "{}\n");
    utimesSync(old, 1e9, 1e9);
    await bed.call("stat", { path: "a.txt" });
    return existsSync(old);
  }, "mcp.observability.retention_days = 30"),
  "mcp.audit.enabled": differ(async (bed) => {
    await bed.call("stat", { path: "a.txt" });
    return existsSync(auditFile(bed));
  }, "mcp.audit.enabled = false"),
  "mcp.audit.path": differ(async (bed) => {
    await bed.call("stat", { path: "a.txt" });
    return existsSync(join(bed.root, "trail.jsonl"));
  }, "mcp.audit.path = 'trail.jsonl'"),
  "mcp.audit.rotate_mb": differ(async (bed) => {
    for (let index = 0; index < 200; index++) await bed.call("stat", { path: "a.txt" });
    return readdirSync(join(bed.root, ".llmc/audit")).length > 1;
  }, "mcp.audit.rotate_mb = 0.01"),
};
