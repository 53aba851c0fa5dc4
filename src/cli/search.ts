import { createApp } from "../app.ts";
import { Fault } from "../base/fault.ts";
import { mintPrincipal } from "../base/principal.ts";
import type { SearchAnswer } from "../engines/rag/index.ts";
import { type Invocation, textFlag } from "./command.ts";
import { loadFor } from "./where.ts";

/** The same search as a client's, for eyes. */
export async function run(invocation: Invocation): Promise<number> {
  const { terminal, flags } = invocation;
  const q = invocation.args.join(" ");
  if (q.trim() === "")
    throw new Fault("invalid_args", "Search for what?", { hint: "llmc search 'where is the retry decided'" });
  const app = createApp(loadFor(invocation));
  const cancel = new AbortController();
  process.once("SIGINT", () => cancel.abort());
  try {
    const reply = await app.dispatch({
      name: "rag_search",
      args: { q, ...optional(invocation) },
      principal: mintPrincipal("local", process.getuid?.() ?? 0),
      via: "cli",
      signal: cancel.signal,
      edge: "data",
    });
    if (!reply.ok) throw reply.fault;
    const answer = reply.payload as SearchAnswer;
    terminal.out(
      flags["json"] ? `${JSON.stringify(answer)}\n` : readable(answer, terminal.is_tty && !terminal.env["NO_COLOR"]),
    );
    return answer.snippets.length > 0 ? 0 : 1;
  } finally {
    await app.close();
  }
}

function optional(invocation: Invocation): Record<string, unknown> {
  const number = (name: string) => {
    const text = textFlag(invocation, name);
    if (text !== undefined && !/^\d+$/.test(text)) throw new Fault("invalid_args", `--${name} takes a whole number.`);
    return text === undefined ? undefined : Number(text);
  };
  const given = { scope: textFlag(invocation, "scope"), k: number("k"), budget_tokens: number("budget-tokens") };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

function readable({ snippets, stale, coverage }: SearchAnswer, inColour: boolean): string {
  const paint = (code: number, text: string) => (inColour ? `\u001b[${code}m${text}\u001b[0m` : text);
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

/** A file must not steer the terminal that shows it. */
function harmless(line: string): string {
  return line.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, "");
}
