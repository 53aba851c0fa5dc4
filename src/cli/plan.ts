import type { Plan } from "../engines/rag/index.ts";
import { ask, harmless, painter, subject } from "./ask.ts";
import type { Invocation } from "./command.ts";

/** What to read first for a task. */
export async function run(invocation: Invocation): Promise<number> {
  const { terminal, flags } = invocation;
  const plan = await ask<Plan>(invocation, "rag_plan", {
    query: subject(invocation, "Plan what?", "llmc plan 'retries should stop after a minute'"),
    detail_level: flags["full"] === true ? "full" : undefined,
  });
  terminal.out(flags["json"] ? `${JSON.stringify(plan)}\n` : readable(plan, painter(invocation)));
  return plan.steps.length > 0 ? 0 : 1;
}

function readable({ steps, note }: Plan, paint: ReturnType<typeof painter>): string {
  const lines = steps.map(
    ({ read, why, confidence }, index) =>
      `${String(index + 1).padStart(2)}  ${paint(36, harmless(read))}  ${paint(2, confidence.toFixed(2))}\n    ${harmless(why)}`,
  );
  if (steps.length === 0) lines.push("Nothing found.");
  if (note !== undefined) lines.push(paint(2, harmless(note)));
  return `${lines.join("\n")}\n`;
}
