import { cut } from "./lines.ts";
import type { StatRow, Stats } from "./store.ts";

const NAME = 20;

/** For people: fits a terminal of 80 columns. */
export function statsTable(stats: Stats): string {
  if (stats.total.calls === 0) return "No command has been run through te yet.\n";
  const rows = (title: string, all: readonly StatRow[]) => [
    header(title),
    ...all.slice(0, 20).map(line),
    ...(all.length > 20 ? [`and ${all.length - 20} more`] : []),
  ];
  return `${[...rows("command", stats.commands), "", ...rows("agent", stats.agents), "", line(stats.total)].join("\n")}\n`;
}

function header(title: string): string {
  return [title.padEnd(NAME), ...["calls", "errors", "p50 ms", "p95 ms", "read", "sent", "saved"].map(column)].join("");
}

function line(row: StatRow): string {
  const saved = row.tokens_in === 0 ? 0 : Math.round((row.tokens_saved / row.tokens_in) * 100);
  const cells = [
    short(row.calls),
    short(row.errors),
    short(row.p50_ms),
    short(row.p95_ms),
    short(row.tokens_in),
    short(row.tokens_out),
    `${saved}%`,
  ];
  return [cut(row.name, NAME - 1).padEnd(NAME), ...cells.map(column)].join("");
}

function column(text: string): string {
  return text.padStart(8);
}

/** 950, 12.5k, 3.1M. */
export function short(value: number): string {
  if (value < 10_000) return String(Math.round(value * 10) / 10);
  if (value < 1_000_000) return `${(value / 1000).toFixed(1)}k`;
  return `${(value / 1_000_000).toFixed(1)}M`;
}
