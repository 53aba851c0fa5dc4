import { visible } from "../../base/text.ts";
import { short } from "../../engines/envelope/index.ts";
import type { AuditRecord } from "../../engines/telemetry/index.ts";
import type { Row } from "./tally.ts";
import type { Usage } from "./usage.ts";

const BARS = " ▁▂▃▄▅▆▇█";
const NUMBERS = 8;
/** Where the columns of numbers end: a tool's name takes the rest. */
const WIDEST_NAME = 34;

export function headLines(usage: Usage): string[] {
  const errors = Object.values(usage.errors).reduce((sum, count) => sum + count, 0);
  const read = usage.tokens_sent + usage.tokens_saved;
  const share = read === 0 ? 0 : Math.round((usage.tokens_saved / read) * 100);
  return [
    `${counted(usage.calls, "call")} and ${short(usage.nested)} by code, ${counted(errors, "error")}, p50 ${usage.p50_ms} ms, p95 ${usage.p95_ms} ms`,
    `about ${short(usage.tokens_sent)} tokens sent to models, ${short(usage.tokens_saved)} kept from them (${share} %)`,
    `${counted(usage.sessions, "session")} (${usage.active_sessions} active), ${counted(usage.agents.length, "agent")}, ${counted(usage.locks.length, "lock")} held`,
  ];
}

function counted(count: number, word: string): string {
  return `${short(count)} ${word}${count === 1 ? "" : "s"}`;
}

export function tableLines(title: string, rows: readonly Row[], columns: number, max: number): string[] {
  const width = Math.min(WIDEST_NAME, columns - 5 * NUMBERS);
  const cells = (name: string, numbers: readonly string[]) =>
    cut(name, width - 1).padEnd(width) + numbers.map((text) => text.padStart(NUMBERS)).join("");
  return [
    cells(title, ["calls", "errors", "p50 ms", "p95 ms", "tokens"]),
    ...rows
      .slice(0, max)
      .map((row) => cells(row.name, [row.calls, row.errors, row.p50_ms, row.p95_ms, row.tokens].map(short))),
    ...(rows.length > max ? [`and ${rows.length - max} more`] : []),
  ];
}

export function errorLine({ errors }: Usage, columns: number): string {
  const parts = Object.entries(errors)
    .sort(([, a], [, b]) => b - a)
    .map(([code, count]) => `${code} ${count}`);
  return cut(`errors: ${parts.join(", ") || "none"}`, columns);
}

export function lockLines({ locks }: Usage, columns: number, max: number): string[] {
  return locks
    .slice(0, max)
    .map(({ resource, holder, since }) => cut(`${clock(since)}  ${visible(resource)}  ${holder}`, columns));
}

export function callLine(record: AuditRecord, columns: number): string {
  const outcome = record.error_code ?? "ok";
  const name = record.depth > 0 ? `· ${record.tool}` : record.tool;
  const paths = record.paths.map(visible).join(" ");
  return cut(
    `${clock(record.time)}  ${name.padEnd(22)} ${outcome.padEnd(16)} ${`${short(record.duration_ms)} ms`.padStart(9)}  ${paths}`,
    columns,
  );
}

/** One sign a minute. */
export function sparkline(counts: readonly number[]): string {
  const most = Math.max(1, ...counts);
  return counts.map((count) => BARS[Math.ceil((count / most) * (BARS.length - 1))]).join("");
}

export function cut(text: string, columns: number): string {
  return text.length <= columns ? text : `${text.slice(0, columns - 1)}…`;
}

export function clock(time: string): string {
  return new Date(time).toTimeString().slice(0, 8);
}
