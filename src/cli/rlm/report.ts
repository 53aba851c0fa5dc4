import type { TraceEntry } from "../../engines/rlm/index.ts";
import type { Terminal } from "../command.ts";

export interface Told {
  readonly answer: string;
  readonly budget_summary: {
    readonly total_cost_usd: number;
    readonly limit_usd: number;
    readonly calls: number;
    readonly input_tokens: number;
    readonly output_tokens: number;
  };
  readonly stop_reason: string;
  readonly turns: number;
  readonly session_id: string;
  readonly trace?: readonly TraceEntry[] | undefined;
}

/** How it ended on one side, the answer on the other: the answer can be piped. */
export function report(terminal: Terminal, told: Told): void {
  const { total_cost_usd, limit_usd, calls, input_tokens, output_tokens } = told.budget_summary;
  const how = ENDS[told.stop_reason] ?? told.stop_reason;
  for (const entry of told.trace ?? []) terminal.err(`${traceLine(entry)}\n`);
  terminal.err(
    `${how}: ${plural(told.turns, "turn")}, ${plural(calls, "call")}, ${input_tokens} + ${output_tokens} tokens, $${total_cost_usd.toFixed(4)} of $${limit_usd.toFixed(2)}\n`,
  );
  terminal.err(`run ${told.session_id}\n\n`);
  terminal.out(told.answer.endsWith("\n") ? told.answer : `${told.answer}\n`);
}

const ENDS: Readonly<Record<string, string>> = {
  answer: "Answered",
  small_input: "Answered in one plain call, as the text is short",
  max_turns: "PARTIAL, out of turns",
  budget: "PARTIAL, out of budget",
  timeout: "PARTIAL, out of time",
};

function plural(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? "" : "s"}`;
}

/** A step by sizes and the beginnings of hashes, in 80 columns. */
function traceLine({ level, turn, kind, in_chars, in_hash, out_chars, out_hash }: TraceEntry): string {
  const side = (chars: number, hash: string) => `${String(chars).padStart(9)} chars ${hash.slice(0, 8)}`;
  return `  ${`${"  ".repeat(level - 1)}${turn} ${kind}`.padEnd(18)} ${side(in_chars, in_hash)}  -> ${side(out_chars, out_hash)}`;
}
