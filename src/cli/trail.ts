import { createReadStream, statSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Fault } from "../base/fault.ts";
import type { Loaded } from "../config/load.ts";
import { type AuditRecord, auditFiles } from "../engines/telemetry/index.ts";

export function auditPath({ config, state_dir }: Loaded): string {
  return config.mcp.audit.path ?? join(state_dir, "audit", "audit.jsonl");
}

/**
 * The audit, oldest first, read line by line: it may be large. Files that ended before `since` are not opened; of the newest, which
 * grows meanwhile, no more than `max_bytes` is read.
 */
export async function* auditRecords(
  path: string,
  since?: string,
  max_bytes = Number.POSITIVE_INFINITY,
): AsyncGenerator<AuditRecord> {
  for (const file of auditFiles(path)) {
    const touched = statSync(file, { throwIfNoEntry: false })?.mtime.toISOString();
    if (touched === undefined || (since !== undefined && touched < since)) continue;
    const end = file === path ? max_bytes - 1 : Number.POSITIVE_INFINITY;
    if (end < 0) continue;
    for await (const line of createInterface({ input: createReadStream(file, { end }) })) {
      const record = parsedRecord(line);
      if (record && (since === undefined || record.time >= since)) yield record;
    }
  }
}

/** A line that a crash cut short is not a record. */
export function parsedRecord(line: string): AuditRecord | undefined {
  try {
    return JSON.parse(line) as AuditRecord;
  } catch {
    return undefined;
  }
}

const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A date, or 30m, 2h, 7d ago. */
export function sinceOf(text: string): string {
  const ago = /^(\d+)([smhd])$/.exec(text);
  const time = ago ? new Date(Date.now() - Number(ago[1]) * UNITS[ago[2]!]!) : new Date(text);
  if (Number.isNaN(time.getTime()))
    throw new Fault("invalid_args", `--since ${text} is no time.`, { hint: "Use a date, or 30m, 2h, 7d." });
  return time.toISOString();
}
