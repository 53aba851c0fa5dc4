import { quickHash } from "../../base/hash.ts";

export interface TraceEntry {
  readonly level: number;
  readonly turn: number;
  readonly kind: "root_call" | "sub_call" | "cell" | "answer";
  readonly model?: string;
  readonly in_chars: number;
  readonly in_hash: string;
  readonly out_chars: number;
  readonly out_hash: string;
  readonly in_text?: string;
  readonly out_text?: string;
}

/** What happened, by sizes and hashes; the texts themselves only where the operator asked for them. */
export interface Trace {
  readonly entries: readonly TraceEntry[] | undefined;
  add(
    at: { level: number; turn: number; kind: TraceEntry["kind"]; model?: string },
    input: string,
    output: string,
  ): void;
}

const MAX_ENTRIES = 1_000;
const TEXT_CHARS = 4_000;

export function createTrace({ trace, trace_text }: { readonly trace: boolean; readonly trace_text: boolean }): Trace {
  if (!trace) return { entries: undefined, add() {} };
  const entries: TraceEntry[] = [];
  return {
    entries,
    add(at, input, output) {
      if (entries.length >= MAX_ENTRIES) return;
      entries.push({
        ...at,
        in_chars: input.length,
        in_hash: quickHash(input),
        out_chars: output.length,
        out_hash: quickHash(output),
        ...(trace_text ? { in_text: input.slice(0, TEXT_CHARS), out_text: output.slice(0, TEXT_CHARS) } : {}),
      });
    },
  };
}
