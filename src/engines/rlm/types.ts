import type { Pinned } from "../../base/path/index.ts";
import type { Principal } from "../../base/principal.ts";
import type { FileRules } from "./files.ts";
import type { Summary } from "./ledger.ts";
import type { Progress, StopReason } from "./run.ts";
import type { Text, TextFile } from "./text.ts";
import type { TraceEntry } from "./trace.ts";

export interface Query {
  /** Who asks: so many runs of one caller go on at once. */
  readonly owner: Principal;
  readonly task: string;
  readonly context: Text;
  /** Where the text came from, when it was a file. */
  readonly path?: string | undefined;
  readonly language?: string | undefined;
  readonly model?: string | undefined;
  readonly budget_usd?: number | undefined;
  readonly timeout_s?: number | undefined;
  readonly max_turns?: number | undefined;
  onProgress?(at: Progress): void;
  /** Told once, however the run ends. */
  onEnd?(spent: Summary, model: string): void;
}

export interface QueryResult {
  readonly answer: string;
  readonly session_id: string;
  readonly budget_summary: Summary;
  readonly model_used: string;
  readonly stop_reason: StopReason;
  readonly turns: number;
  readonly trace?: readonly TraceEntry[];
}

export interface Rlm {
  /** Which files may be read, and how much of them. */
  readonly files: FileRules;
  /** A file as a text that is read as it is needed; the caller closes it. */
  openText(file: Pinned): TextFile & Disposable;
  query(query: Query, signal: AbortSignal): Promise<QueryResult>;
  /** The run of a recording again, with no network. The text must be the same. */
  replay(file: string, query: Pick<Query, "context" | "onProgress">, signal: AbortSignal): Promise<QueryResult>;
  /** One prompt to the sub model, under the same rules of egress and budget. */
  complete(
    prompt: string,
    limits: { readonly max_output_tokens: number; readonly budget_usd: number },
    signal: AbortSignal,
  ): Promise<{ readonly text: string; readonly cost_usd: number }>;
  close(): void;
}
