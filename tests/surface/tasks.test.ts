import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { playOurs, taskNames } from "../../bench/proof/tasks.ts";

const CHART = JSON.parse(readFileSync(new URL("../../bench/results/tasks.json", import.meta.url), "utf8")) as {
  rows: { name: string; tokens: number }[];
};

/** What the tasks may cost in all: definitions once, every request, every answer. A rise is a decision, made here. */
const BUDGETS = [
  [0, "hybrid", 2500],
  [0, "code_execution", 2000],
  [0, "classic", 5500],
  [1, "hybrid", 1900],
  [1, "code_execution", 1650],
] as const;

describe("the tasks of the benchmark", () => {
  it.each(BUDGETS)("set %i in %s are all done within %i tokens", { timeout: 60_000 }, async (set, mode, budget) => {
    const { tokens, done, total, definitions } = await playOurs(set, mode);
    const table = taskNames(set).map((name, at) => `${String(tokens[at] ?? "not done").padStart(8)}  ${name}`);
    const report = [`${definitions} definitions`, ...table, `${total} of ${budget}`].join("\n");
    expect(done, report).toBe(8);
    expect(total, report).toBeLessThanOrEqual(budget);
    const shown = set === 0 ? CHART.rows.find(({ name }) => name === `llmc ${mode}`) : undefined;
    // The bar in the README may be no more than five percent away from what is true now.
    if (shown) expect(Math.abs(total - shown.tokens) / shown.tokens, report).toBeLessThan(0.05);
  });
});
