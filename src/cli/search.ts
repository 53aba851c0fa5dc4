import type { SearchAnswer } from "../engines/rag/index.ts";
import { ask, harmless, numberOf, painter, subject } from "./ask.ts";
import { type Invocation, textFlag } from "./command.ts";

/** The same search as a client's, for eyes. */
export async function run(invocation: Invocation): Promise<number> {
  const { terminal, flags } = invocation;
  const answer = await ask<SearchAnswer>(invocation, "rag_search", {
    q: subject(invocation, "Search for what?", "llmc search 'where is the retry decided'"),
    scope: textFlag(invocation, "scope"),
    k: numberOf(invocation, "k"),
    budget_tokens: numberOf(invocation, "budget-tokens"),
  });
  terminal.out(flags["json"] ? `${JSON.stringify(answer)}\n` : readable(answer, painter(invocation)));
  return answer.snippets.length > 0 ? 0 : 1;
}

function readable({ snippets, stale, coverage }: SearchAnswer, paint: ReturnType<typeof painter>): string {
  const parts = snippets.map(({ src, symbol, score, text }) => {
    const first = Number(/#L(\d+)-L\d+$/.exec(src)?.[1] ?? 1);
    const lines = text
      .split("\n")
      .map((line, index) => `${paint(2, String(first + index).padStart(5))}  ${harmless(line)}`);
    const name = symbol === undefined ? "" : `  ${paint(33, harmless(symbol))}`;
    return `${paint(36, src)}${name}  ${paint(2, score.toFixed(2))}\n${lines.join("\n")}\n`;
  });
  if (snippets.length === 0) parts.push("Nothing found.\n");
  if (coverage < 1) parts.push(paint(2, `${Math.round(coverage * 100)} % of the files are indexed so far.\n`));
  else if (stale) parts.push(paint(2, "Files are changing; this may be a moment old.\n"));
  return parts.join("\n");
}
