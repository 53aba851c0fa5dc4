/** Recursive analysis: a model that reads a long text through code, within a budget that holds and a way out that is guarded. */
import { Fault } from "../../base/fault.ts";
import { unguessableId } from "../../base/ids.ts";
import { createEgress, createPoster } from "../../base/net/index.ts";
import { createModels } from "./egress.ts";
import { createFileRules, type FileRules } from "./files.ts";
import { createLedger, type Ledger, type Summary } from "./ledger.ts";
import { createAsk } from "./model/ask.ts";
import { askMetered } from "./model/metered.ts";
import type { Ask } from "./model/types.ts";
import type { RlmOptions, RlmPolicy } from "./options.ts";
import { SOFT_LIMIT, SUB_SYSTEM } from "./prompts.ts";
import type { Repl } from "./repl.ts";
import { openRecording, type RecordingHead, recording, sha256 } from "./replay.ts";
import type { Finding, Outline, Progress, Run, StopReason } from "./run.ts";
import { analyse } from "./session.ts";
import { createTrace, type TraceEntry } from "./trace.ts";

export type { Repl } from "./repl.ts";
export { openRecording, type RecordingHead } from "./replay.ts";
export type { Outline, OutlineEntry, Progress } from "./run.ts";
export type { TraceEntry } from "./trace.ts";

export interface Query {
  readonly task: string;
  /** UTF-8. */
  readonly context: Uint8Array;
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

interface RlmDeps {
  readonly repl: Repl;
  readonly outline: Outline;
  /** The value of a variable that holds a key. */
  secret(variable: string): string | undefined;
}

const DEFAULT_BUDGET_USD = 1;
const DEFAULT_TURNS = 5;
const COMPLETE_MS = 120_000;

export function createRlm(options: { policy: RlmPolicy; rlm: RlmOptions }, deps: RlmDeps): Rlm {
  const { policy, rlm } = options;
  const models = createModels(policy, rlm, deps.secret);
  const local = createPoster(createEgress({ profile: "restricted", allowed_hosts: [] }));
  const remote = createPoster(createEgress(policy));
  const live = createAsk({ local, remote });

  async function query(given: Query, signal: AbortSignal): Promise<QueryResult> {
    const about: RecordingHead = {
      version: 1,
      session_id: unguessableId("rlm").slice(0, 20),
      task: given.task,
      model: models.root(given.model).name,
      context_sha256: rlm.replay_dir === undefined ? "" : sha256(given.context),
      ...(given.path === undefined ? {} : { path: given.path }),
      hint: given.language ?? given.path ?? "",
      budget_usd: Math.min(given.budget_usd ?? DEFAULT_BUDGET_USD, policy.max_budget_usd),
      max_turns: Math.min(given.max_turns ?? DEFAULT_TURNS, policy.max_turns_limit),
    };
    const timeout_s = Math.min(given.timeout_s ?? policy.default_timeout_s, policy.timeout_s_limit);
    const ask = rlm.replay_dir === undefined ? live : recording(live, rlm.replay_dir, about);
    return within(timeout_s, signal, (inner, until_ms) => start(about, given, { ask, until_ms, waits: true }, inner));
  }

  async function start(
    about: RecordingHead,
    given: Pick<Query, "context" | "model" | "onProgress" | "onEnd">,
    how: { readonly ask: Ask; readonly until_ms: number; readonly waits: boolean },
    signal: AbortSignal,
  ): Promise<QueryResult> {
    const ledger = createLedger(about.budget_usd, rlm.max_calls);
    const root = models.root(given.model);
    const trace = createTrace(policy);
    let printed = "";
    let turns = 0;
    let warned = false;
    const run: Run = {
      root,
      sub: models.sub(root),
      models,
      ledger,
      repl: deps.repl,
      outline: deps.outline,
      trace,
      max_depth: rlm.max_depth,
      small_input_bytes: rlm.small_input_bytes,
      softWarning() {
        const share = ledger.spentShare();
        if (warned || share < rlm.soft_limit) return "";
        warned = true;
        return SOFT_LIMIT(share);
      },
      ask: async (model, request, inner) => (await askMetered({ ...how, ledger }, model, request, inner)).text,
      progress(at) {
        if (at.level === 1) turns = at.turn;
        given.onProgress?.({ ...at, ...counts(ledger) });
      },
    };
    const { task, hint, max_turns } = about;
    const job = {
      task,
      context: given.context,
      level: 1,
      max_turns,
      hint,
      onPrinted: (text: string) => (printed = text),
    };
    try {
      const found = await analyse(run, job, signal).catch((error: unknown) =>
        partial(signal.aborted ? signal.reason : error, printed, turns, policy.allow_partial),
      );
      return {
        ...found,
        session_id: about.session_id,
        budget_summary: ledger.summary(),
        model_used: root.name,
        ...(trace.entries ? { trace: trace.entries } : {}),
      };
    } finally {
      given.onEnd?.(ledger.summary(), root.name);
    }
  }

  return {
    files: createFileRules(policy),
    query,
    async replay(file, given, signal) {
      const { about, ask } = openRecording(file);
      if (sha256(given.context) !== about.context_sha256)
        throw new Fault("invalid_args", "The text is not the one that was recorded.", {
          hint: "Give the same file or context.",
        });
      const model = about.model === rlm.root_model ? undefined : about.model;
      return start(about, { ...given, model }, { ask, until_ms: Number.POSITIVE_INFINITY, waits: false }, signal);
    },
    complete: (prompt, { max_output_tokens, budget_usd }, signal) =>
      within(COMPLETE_MS / 1000, signal, async (inner, until_ms) => {
        const ledger = createLedger(Math.min(budget_usd, policy.max_budget_usd), rlm.max_calls);
        const model = models.sub(models.root());
        const request = {
          system: SUB_SYSTEM,
          messages: [{ role: "user" as const, content: prompt }],
          max_output_tokens,
        };
        const { text } = await askMetered({ ask: live, ledger, until_ms, waits: true }, model, request, inner);
        return { text, cost_usd: ledger.summary().total_cost_usd };
      }),
    close() {
      local.close();
      remote.close();
    },
  };
}

/** Held to its time from outside: whatever it does then, the caller has its answer. */
async function within<T>(
  seconds: number,
  signal: AbortSignal,
  work: (signal: AbortSignal, until_ms: number) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  const control = new AbortController();
  const follow = () => control.abort(signal.reason);
  signal.addEventListener("abort", follow, { once: true });
  const late = new Fault("timeout", `The query took longer than ${seconds} s.`, {
    hint: "Raise timeout_s (mcp.rlm.timeout_s_limit bounds it), or ask for less.",
  });
  const timer = setTimeout(() => control.abort(late), seconds * 1000);
  try {
    return await work(control.signal, performance.now() + seconds * 1000);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", follow);
  }
}

const ENDS: Readonly<Record<string, StopReason>> = {
  budget_exceeded: "budget",
  limit_exceeded: "max_turns",
  timeout: "timeout",
};

/** No answer. Where the operator prefers that to nothing, what was printed last. */
function partial(error: unknown, printed: string, turns: number, isAllowed: boolean): Finding {
  const stop_reason = error instanceof Fault ? ENDS[error.code] : undefined;
  if (!isAllowed || stop_reason === undefined || printed === "") throw error;
  return { answer: printed, stop_reason, turns };
}

function counts(ledger: Ledger): Pick<Progress, "calls" | "cost_usd" | "tokens"> {
  const { calls, total_cost_usd, input_tokens, output_tokens } = ledger.summary();
  return { calls, cost_usd: total_cost_usd, tokens: input_tokens + output_tokens };
}
