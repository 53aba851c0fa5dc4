import { Fault } from "../base/fault.ts";
import type { GraphAnswer } from "../engines/rag/index.ts";
import { ask, harmless, numberOf, painter, subject } from "./ask.ts";
import { type Invocation, textFlag } from "./command.ts";

/** Who uses a symbol, file by file; with a direction, what it leads to. */
export async function run(invocation: Invocation): Promise<number> {
  const { terminal, flags } = invocation;
  const symbol = subject(invocation, "Where is what used?", "llmc where-used Router.match");
  const direction = textFlag(invocation, "direction");
  const depth = numberOf(invocation, "depth");
  if (depth !== undefined && direction === undefined)
    throw new Fault("invalid_args", "--depth needs --direction.", { hint: "upstream, downstream, callers or callees" });
  const tool = direction === undefined ? "rag_where_used" : "rag_lineage";
  const page = { symbol, limit: numberOf(invocation, "limit"), cursor: textFlag(invocation, "cursor") };
  const answer = await ask<GraphAnswer>(invocation, tool, { ...page, direction, depth });
  terminal.out(flags["json"] ? `${JSON.stringify(answer)}\n` : readable(answer, painter(invocation)));
  return answer.items.length > 0 ? 0 : 1;
}

function readable({ items, total, cursor, note }: GraphAnswer, paint: ReturnType<typeof painter>): string {
  const lines: string[] = [];
  let path: string | undefined;
  for (const item of items) {
    if (item.path !== path) lines.push(paint(36, harmless(item.path)));
    path = item.path;
    const far = item.hop > 1 ? paint(2, `  ${item.hop} hops`) : "";
    const sure = item.confidence >= 0.5 ? "" : paint(33, `  perhaps (${item.confidence.toFixed(2)})`);
    lines.push(`${String(item.line).padStart(6)}  ${item.kind.padEnd(8)}${harmless(item.symbol)}${sure}${far}`);
  }
  if (items.length === 0) lines.push("Nothing found.");
  if (note !== undefined) lines.push("", paint(2, harmless(note)));
  if (cursor !== undefined) lines.push("", paint(2, `${items.length} of ${total}; --cursor ${cursor} goes on.`));
  return `${lines.join("\n")}\n`;
}
