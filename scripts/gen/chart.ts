import { readFileSync } from "node:fs";

const RESULTS = "bench/results/tasks.json";
const WIDTH = 40;

interface Results {
  readonly measured: string;
  readonly rows: readonly { readonly name: string; readonly tokens: number; readonly done: number }[];
}

/** Bars of text, which every viewer shows: tokens for the eight tasks, by server. */
export function tasksChart(): string {
  const { measured, rows } = JSON.parse(readFileSync(RESULTS, "utf8")) as Results;
  const most = Math.max(...rows.map(({ tokens }) => tokens));
  const name = Math.max(...rows.map((row) => row.name.length));
  const lines = rows.map(
    (row) =>
      `${row.name.padEnd(name)} ${row.tokens.toLocaleString("en").padStart(7)}  ${"█".repeat(Math.max(1, Math.round((row.tokens / most) * WIDTH)))}`,
  );
  return [
    "```text",
    ...lines,
    "```",
    "",
    `All of these did all eight. Measured ${measured} with \`npm run bench\`; a test keeps our own bars true. [All figures](docs/benchmarks.md)`,
  ].join("\n");
}
