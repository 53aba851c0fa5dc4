import { createReadStream } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Fault } from "../base/fault.ts";
import { visible } from "../base/text.ts";
import { type AuditRecord, auditFiles } from "../engines/telemetry/index.ts";
import { type Invocation, textFlag } from "./command.ts";
import { loadFor } from "./where.ts";

export async function run(invocation: Invocation): Promise<number> {
  const loaded = loadFor(invocation);
  const path = loaded.config.mcp.audit.path ?? join(loaded.state_dir, "audit", "audit.jsonl");
  const { out, err } = invocation.terminal;
  const filter = filterOf(invocation);
  const limit = limitOf(invocation);
  const files = auditFiles(path);
  if (files.length === 0)
    err(loaded.config.mcp.audit.enabled ? "No calls were audited yet.\n" : "mcp.audit.enabled is false.\n");
  const records = await matching(files, filter, limit);
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
  const since = sinceOf(textFlag(invocation, "since"));
  return (record) =>
    (tool === undefined || record.tool === tool) &&
    (principal === undefined || record.principal === principal) &&
    (path === undefined || record.paths.some((one) => one.includes(path))) &&
    (code === undefined || (code === "error" ? record.error_code !== null : (record.error_code ?? "ok") === code)) &&
    (id === undefined || record.correlation_id === id) &&
    (since === undefined || record.time >= since);
}

const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

function sinceOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const ago = /^(\d+)([smhd])$/.exec(text);
  const time = ago ? new Date(Date.now() - Number(ago[1]) * UNITS[ago[2]!]!) : new Date(text);
  if (Number.isNaN(time.getTime()))
    throw new Fault("invalid_args", `--since ${text} is no time.`, { hint: "Use a date, or 30m, 2h, 7d." });
  return time.toISOString();
}

function limitOf(invocation: Invocation): number {
  const text = textFlag(invocation, "limit") ?? "50";
  if (!/^\d+$/.test(text)) throw new Fault("invalid_args", "--limit takes a whole number.");
  return Number(text) === 0 ? Number.POSITIVE_INFINITY : Number(text);
}

/** The last so many that match, read line by line: the trail may be large. */
async function matching(files: readonly string[], filter: Filter, limit: number): Promise<AuditRecord[]> {
  const kept: AuditRecord[] = [];
  for (const file of files)
    for await (const line of createInterface({ input: createReadStream(file) })) {
      const record = parsed(line);
      if (!record || !filter(record)) continue;
      kept.push(record);
      if (kept.length > limit * 2) kept.splice(0, kept.length - limit);
    }
  return kept.slice(-limit);
}

/** A line that a crash cut short is not a record. */
function parsed(line: string): AuditRecord | undefined {
  try {
    return JSON.parse(line) as AuditRecord;
  } catch {
    return undefined;
  }
}

function asLine(record: AuditRecord): string {
  const outcome = record.error_code ?? "ok";
  const rule = record.rule === null ? "" : `  [${record.rule}]`;
  return `${record.time}  ${record.correlation_id}  ${record.principal}  ${record.via.padEnd(5)}  ${record.tool.padEnd(20)}  ${outcome.padEnd(16)}  ${`${record.duration_ms} ms`.padStart(9)}  ${record.paths.map(visible).join(" ")}${rule}`.trimEnd();
}
