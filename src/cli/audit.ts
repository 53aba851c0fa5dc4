import { Fault } from "../base/fault.ts";
import { visible } from "../base/text.ts";
import { type AuditRecord, auditFiles } from "../engines/telemetry/index.ts";
import { type Invocation, textFlag } from "./command.ts";
import { auditPath, auditRecords, sinceOf } from "./trail.ts";
import { loadFor } from "./where.ts";

export async function run(invocation: Invocation): Promise<number> {
  const loaded = loadFor(invocation);
  const path = auditPath(loaded);
  const { out, err } = invocation.terminal;
  const filter = filterOf(invocation);
  const limit = limitOf(invocation);
  if (auditFiles(path).length === 0)
    err(loaded.config.mcp.audit.enabled ? "No calls were audited yet.\n" : "mcp.audit.enabled is false.\n");
  const records = await matching(path, filter, limit);
  for (const record of records) out(invocation.flags["json"] ? `${JSON.stringify(record)}\n` : `${asLine(record)}\n`);
  return 0;
}

type Filter = (record: AuditRecord) => boolean;

function filterOf(invocation: Invocation): Filter {
  const tool = textFlag(invocation, "tool");
  const principal = textFlag(invocation, "principal");
  const path = textFlag(invocation, "path");
  const code = textFlag(invocation, "code");
  const id = textFlag(invocation, "id");
  const from = textFlag(invocation, "since");
  const since = from === undefined ? undefined : sinceOf(from);
  return (record) =>
    (tool === undefined || record.tool === tool) &&
    (principal === undefined || record.principal === principal) &&
    (path === undefined || record.paths.some((one) => one.includes(path))) &&
    (code === undefined || (code === "error" ? record.error_code !== null : (record.error_code ?? "ok") === code)) &&
    (id === undefined || record.correlation_id === id) &&
    (since === undefined || record.time >= since);
}

function limitOf(invocation: Invocation): number {
  const text = textFlag(invocation, "limit") ?? "50";
  if (!/^\d+$/.test(text)) throw new Fault("invalid_args", "--limit takes a whole number.");
  return Number(text) === 0 ? Number.POSITIVE_INFINITY : Number(text);
}

/** The last so many that match. */
async function matching(path: string, filter: Filter, limit: number): Promise<AuditRecord[]> {
  const kept: AuditRecord[] = [];
  for await (const record of auditRecords(path)) {
    if (!filter(record)) continue;
    kept.push(record);
    if (kept.length > limit * 2) kept.splice(0, kept.length - limit);
  }
  return kept.slice(-limit);
}

function asLine(record: AuditRecord): string {
  const outcome = record.error_code ?? "ok";
  const rule = record.rule === null ? "" : `  [${record.rule}]`;
  return `${record.time}  ${record.correlation_id}  ${record.principal}  ${record.via.padEnd(5)}  ${record.tool.padEnd(20)}  ${outcome.padEnd(16)}  ${`${record.duration_ms} ms`.padStart(9)}  ${record.paths.map(visible).join(" ")}${rule}`.trimEnd();
}
