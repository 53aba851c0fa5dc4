import { Fault } from "../../base/fault.ts";
import { createGate, type Gate } from "../../base/gate.ts";
import type { Models } from "./egress.ts";
import { createLedger, type Ledger } from "./ledger.ts";
import { askMetered } from "./model/metered.ts";
import type { Ask } from "./model/types.ts";
import type { RlmOptions, RlmPolicy } from "./options.ts";
import { SOFT_LIMIT } from "./prompts.ts";
import type { Repl } from "./repl.ts";
import type { RecordingHead } from "./replay.ts";
import type { Finding, Outline, Progress, Run, StopReason } from "./run.ts";
import { analyse } from "./session.ts";
import { createTrace } from "./trace.ts";
import type { Query, QueryResult } from "./types.ts";

interface StartDeps {
  readonly policy: RlmPolicy;
  readonly rlm: RlmOptions;
  readonly models: Models;
  readonly repl: Repl;
  readonly outline: Outline;
  /** The network, or a recording. */
  readonly ask: Ask;
  readonly until_ms: number;
  /** False for a recording: it is not waited for. */
  readonly waits: boolean;
}

/** Runs of one level that are under way at once: each holds interpreters with its text. */
const LEVEL_AT_ONCE = 4;

/** One run with a ledger of its own, from its task to its answer. */
export async function startRun(
  about: RecordingHead,
  given: Pick<Query, "context" | "model" | "onProgress" | "onEnd">,
  deps: StartDeps,
  signal: AbortSignal,
): Promise<QueryResult> {
  const { policy, rlm, models } = deps;
  const ledger = createLedger(about.budget_usd, rlm.max_calls);
  const root = models.root(given.model);
  const trace = createTrace(policy);
  const levels = new Map<number, Gate>();
  let [printed, turns, warned] = ["", 0, false];
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
    // A gate for each level: who is inside waits for deeper ones only, so nobody waits for ever.
    enterLevel(level, inner) {
      const gate = levels.get(level) ?? createGate(LEVEL_AT_ONCE);
      levels.set(level, gate);
      return gate.enter(inner);
    },
    softWarning() {
      const share = ledger.spentShare();
      if (warned || share < rlm.soft_limit) return "";
      warned = true;
      return SOFT_LIMIT(share);
    },
    ask: async (model, request, inner) => (await askMetered({ ...deps, ledger }, model, request, inner)).text,
    progress(at) {
      if (at.level === 1) turns = at.turn;
      given.onProgress?.({ ...at, ...counts(ledger) });
    },
  };
  const { task, hint, max_turns } = about;
  const onPrinted = (text: string) => {
    printed = text;
  };
  try {
    const found = await analyse(
      run,
      { task, context: given.context, level: 1, max_turns, hint, onPrinted },
      signal,
    ).catch((error: unknown) => partial(signal.aborted ? signal.reason : error, printed, turns, policy.allow_partial));
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
