import { appendFileSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

export interface TokenRow {
  readonly time: string;
  readonly correlation_id: string;
  readonly agent_id: string;
  readonly session_id: string;
  readonly tool: string;
  readonly tokens_in: number;
  readonly tokens_out: number;
  readonly error_code: string;
}

const COLUMNS = [
  "time",
  "correlation_id",
  "agent_id",
  "session_id",
  "tool",
  "tokens_in",
  "tokens_out",
  "error_code",
] as const;
const DAY_MS = 86_400_000;

/** Token counts per call as CSV, for a spreadsheet. Old rows are dropped when the file is opened. */
export function openTokenCsv(path: string, retention_days: number): { append(row: TokenRow): void } {
  mkdirSync(dirname(path), { recursive: true });
  if (!existsSync(path)) writeFileSync(path, `${COLUMNS.join(",")}\n`, { mode: 0o600 });
  else if (retention_days > 0) dropOld(path, new Date(Date.now() - retention_days * DAY_MS).toISOString());
  return { append: (row) => appendFileSync(path, `${COLUMNS.map((column) => cell(row[column])).join(",")}\n`) };
}

function dropOld(path: string, limit: string): void {
  const [head, ...rows] = readFileSync(path, "utf8").split("\n");
  const kept = rows.filter((row) => row !== "" && row >= limit);
  const next = `${path}.${process.pid}.new`;
  writeFileSync(next, `${[head, ...kept].join("\n")}\n`, { mode: 0o600 });
  renameSync(next, path);
}

/** Quoted where CSV needs it; a leading sign that a spreadsheet would run as a formula is disarmed. */
function cell(value: string | number): string {
  const text = typeof value === "string" && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
