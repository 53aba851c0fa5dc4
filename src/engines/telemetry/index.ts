/** What happened, told to operators: log, metrics, audit trail and token audit. Nothing here ever sees contents. */

import type { Schema, Store } from "../../base/store/types.ts";
import { type AuditTrail, openAudit } from "./audit.ts";
import { openTokenCsv, type TokenRow } from "./csv.ts";
import { createLog, type Log, silentLog } from "./log.ts";
import { createMetrics, type MetricsSnapshot } from "./metrics.ts";
import type { AuditOptions, ObservabilityOptions } from "./options.ts";
import { openTokenTable } from "./token-table.ts";

export { type AuditRecord, auditFiles } from "./audit.ts";
export type { Log, LogLevel } from "./log.ts";
export type { MetricsSnapshot } from "./metrics.ts";
export { TOKEN_AUDIT } from "./token-table.ts";

/** One finished call. Texts are only measured. */
export interface CallRecord {
  /** When it ended, as ISO 8601. */
  readonly time: string;
  readonly correlation_id: string;
  readonly principal: string;
  readonly via: string;
  readonly agent_id: string;
  readonly session_id: string;
  readonly tool: string;
  readonly depth: number;
  readonly paths: readonly string[];
  readonly rule: string | undefined;
  readonly model: string | undefined;
  readonly cost_usd: number | undefined;
  readonly bytes_in: number;
  readonly bytes_out: number;
  readonly duration_ms: number;
  readonly error_code: string | undefined;
  /** Called later, and only when someone counts tokens. */
  tokens(): { in: number; out: number };
}

export interface Telemetry {
  readonly log: Log;
  call(record: CallRecord): void;
  /** How long a command's output took to digest. */
  digest(ms: number): void;
  snapshot(): MetricsSnapshot;
  prometheus(): Promise<string>;
  close(): Promise<void>;
}

interface TelemetryDeps {
  readonly observability: ObservabilityOptions;
  readonly audit: AuditOptions & { path: string };
  /** Opens a part of the store that replicas share: the token audit then is a table there. */
  readonly openShared?: ((schema: Schema) => Promise<Store>) | undefined;
}

/** Log, metrics and tokens follow this long after the call at most, and this many at a time. */
const LATER_MS = 50;
const AT_ONCE = 64;
const HEAVY = 256 * 1024;

const NO_METRICS: MetricsSnapshot = {
  enabled: false,
  uptime_s: 0,
  calls: 0,
  errors: {},
  tokens_in: 0,
  tokens_out: 0,
  tools: {},
  te: { calls: 0, p50_ms: 0, p95_ms: 0, p99_ms: 0 },
};

export function createTelemetry({ observability, audit, openShared }: TelemetryDeps): Telemetry {
  const on = observability.enabled;
  const log = on ? createLog(observability) : silentLog;
  const metrics = on && observability.metrics_enabled ? createMetrics() : undefined;
  const tokenAudit =
    on && observability.csv_token_audit_enabled ? openTokenAudit(observability, openShared) : undefined;
  const trail = audit.enabled ? openTrail(audit, observability.retention_days, log) : undefined;
  const cid = (id: string) => (observability.include_correlation_id ? { correlation_id: id } : {});

  function count(record: CallRecord): void {
    log.info("call", {
      ...cid(record.correlation_id),
      tool: record.tool,
      via: record.via,
      latency_ms: round(record.duration_ms),
      bytes_in: record.bytes_in,
      bytes_out: record.bytes_out,
      ...(record.error_code === undefined ? {} : { error_code: record.error_code }),
    });
    if (!metrics && !tokenAudit) return;
    const tokens = record.tokens();
    metrics?.observe({
      tool: record.tool,
      code: record.error_code ?? "ok",
      duration_ms: record.duration_ms,
      tokens_in: tokens.in,
      tokens_out: tokens.out,
    });
    tokenAudit?.append({
      time: record.time,
      correlation_id: record.correlation_id,
      agent_id: record.agent_id,
      session_id: record.session_id,
      tool: record.tool,
      tokens_in: tokens.in,
      tokens_out: tokens.out,
      error_code: record.error_code ?? "",
    });
  }

  let waiting: CallRecord[] = [];
  let timer: NodeJS.Timeout | undefined;
  function countWaiting(): void {
    clearTimeout(timer);
    const batch = waiting;
    waiting = [];
    for (const record of batch) count(record);
  }

  return {
    log,
    call(record) {
      trail?.append(auditRecord(record));
      if (!on) return;
      // Not the caller's time: while the server works on, a busy machine lets whoever got the reply wait for the processor.
      const many = waiting.push(record);
      if (many === 1) timer = setTimeout(countWaiting, LATER_MS).unref();
      // Records hold on to their texts: neither many nor large ones are kept waiting.
      if (many === AT_ONCE || record.bytes_in + record.bytes_out > HEAVY) setImmediate(countWaiting);
    },
    digest: (ms) => metrics?.observeDigest(ms),
    snapshot() {
      countWaiting();
      return metrics?.snapshot() ?? NO_METRICS;
    },
    prometheus: async () => {
      countWaiting();
      return metrics ? metrics.prometheus() : "";
    },
    async close() {
      countWaiting();
      await tokenAudit?.close?.();
      trail?.close();
      await log.flush();
    },
  };
}

function openTokenAudit(
  { csv_path, retention_days }: ObservabilityOptions,
  openShared: TelemetryDeps["openShared"],
): { append(row: TokenRow): void; close?(): Promise<void> } {
  return openShared ? openTokenTable(openShared, retention_days) : openTokenCsv(csv_path, retention_days);
}

function openTrail(audit: AuditOptions & { path: string }, retention_days: number, log: Log): AuditTrail {
  return openAudit({
    path: audit.path,
    rotate_mb: audit.rotate_mb,
    retention_days,
    onError: (error) =>
      log.error("the audit cannot be written", { reason: (error as NodeJS.ErrnoException).code ?? "unknown" }),
  });
}

function auditRecord(record: CallRecord) {
  return {
    time: record.time,
    correlation_id: record.correlation_id,
    principal: record.principal,
    via: record.via,
    tool: record.tool,
    agent_id: record.agent_id,
    session_id: record.session_id,
    depth: record.depth,
    paths: record.paths,
    rule: record.rule ?? null,
    bytes_in: record.bytes_in,
    bytes_out: record.bytes_out,
    duration_ms: round(record.duration_ms),
    model: record.model ?? null,
    cost_usd: record.cost_usd ?? null,
    error_code: record.error_code ?? null,
  };
}

function round(ms: number): number {
  return Math.round(ms * 100) / 100;
}
