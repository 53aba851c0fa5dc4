import type { AllowedModel } from "../../base/model.ts";
import type { Models } from "./egress.ts";
import type { Ledger } from "./ledger.ts";
import type { ChatRequest } from "./model/types.ts";
import type { Repl } from "./repl.ts";
import type { Text } from "./text.ts";
import type { Trace } from "./trace.ts";

/** A definition in a source file. Lines count from 1, the last one included. */
export interface OutlineEntry {
  readonly name: string;
  readonly type: string;
  readonly line: number;
  readonly end_line: number;
}

/** The definitions of a source text. `hint` is a file name or a language. */
export type Outline = (text: string, hint: string, signal: AbortSignal) => Promise<readonly OutlineEntry[]>;

/** Counts only: nothing of what was read or said. */
export interface Progress {
  readonly turn: number;
  readonly max_turns: number;
  readonly level: number;
  readonly calls: number;
  readonly cost_usd: number;
  readonly tokens: number;
}

/** What all levels of one run share. */
export interface Run {
  readonly root: AllowedModel;
  readonly sub: AllowedModel;
  readonly models: Models;
  readonly ledger: Ledger;
  readonly repl: Repl;
  readonly outline: Outline;
  readonly trace: Trace;
  readonly max_depth: number;
  readonly small_input_bytes: number;
  /** Waits for a place among the deeper runs of a level, and gives the way to leave it. */
  enterLevel(level: number, signal: AbortSignal): Promise<() => void>;
  /** Says once that the budget nears its end, and nothing after that. */
  softWarning(): string;
  /** Asks a model within the budget. */
  ask(model: AllowedModel, request: ChatRequest, signal: AbortSignal): Promise<string>;
  progress(at: { readonly turn: number; readonly max_turns: number; readonly level: number }): void;
}

/** One level of a run. */
export interface Job {
  readonly task: string;
  readonly context: Text;
  /** 1 for the run itself. */
  readonly level: number;
  readonly max_turns: number;
  /** File name or language, where one is known. */
  readonly hint: string;
  /** What was printed last, for an operator who prefers that to nothing. */
  onPrinted?(printed: string): void;
}

export type StopReason = "answer" | "small_input" | "max_turns" | "budget" | "timeout";

export interface Finding {
  readonly answer: string;
  readonly stop_reason: StopReason;
  readonly turns: number;
}

/** Most that one call of a model may write. It bounds the worst case. */
export const MAX_OUTPUT_TOKENS = 4_096;
