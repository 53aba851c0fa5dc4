/** Recursive analysis: a model that reads a long text through code, within a budget that holds and a way out that is guarded. */
import { Fault } from "../../base/fault.ts";
import { createGate, type Gate } from "../../base/gate.ts";
import { unguessableId } from "../../base/ids.ts";
import { createEgress, createPoster } from "../../base/net/index.ts";
import type { Principal } from "../../base/principal.ts";
import { createModels } from "./egress.ts";
import { createFileRules } from "./files.ts";
import { createLedger } from "./ledger.ts";
import { createAsk } from "./model/ask.ts";
import { askMetered } from "./model/metered.ts";
import type { RlmOptions, RlmPolicy } from "./options.ts";
import { SUB_SYSTEM } from "./prompts.ts";
import type { Repl } from "./repl.ts";
import { openRecording, type RecordingHead, recording, textHash } from "./replay.ts";
import type { Outline } from "./run.ts";
import { startRun } from "./start.ts";
import { openText } from "./text.ts";
import type { Query, Rlm } from "./types.ts";
import { within } from "./within.ts";

export { openRecording } from "./replay.ts";
export type { Progress } from "./run.ts";
export type { Text } from "./text.ts";
export type { TraceEntry } from "./trace.ts";
export type { Query, QueryResult, Rlm } from "./types.ts";

interface RlmDeps {
  readonly repl: Repl;
  readonly outline: Outline;
  /** The value of a variable that holds a key. */
  secret(variable: string): string | undefined;
}

const DEFAULT_BUDGET_USD = 1;
const DEFAULT_TURNS = 5;
const COMPLETE_S = 120;
/** Runs of one caller at once, jobs included: each holds interpreters. The others wait, in their own time. */
const RUNS_AT_ONCE = 4;

export function createRlm(options: { policy: RlmPolicy; rlm: RlmOptions }, deps: RlmDeps): Rlm {
  const { policy, rlm } = options;
  const models = createModels(policy, rlm, deps.secret);
  const local = createPoster(createEgress({ profile: "restricted", allowed_hosts: [] }));
  const remote = createPoster(createEgress(policy));
  const live = createAsk({ local, remote });
  const gates = new Map<Principal, Gate>();

  function enter(owner: Principal, signal: AbortSignal): Promise<() => void> {
    const gate = gates.get(owner) ?? createGate(RUNS_AT_ONCE);
    gates.set(owner, gate);
    return gate.enter(signal);
  }

  /** What the run is about, with what the caller asked for held to the operator's limits. */
  function aboutOf(given: Query): RecordingHead {
    return {
      version: 1,
      session_id: unguessableId("rlm").slice(0, 20),
      task: given.task,
      model: models.root(given.model).name,
      context_sha256: rlm.replay_dir === undefined ? "" : textHash(given.context),
      ...(given.path === undefined ? {} : { path: given.path }),
      hint: given.language ?? given.path ?? "",
      budget_usd: Math.min(given.budget_usd ?? DEFAULT_BUDGET_USD, policy.max_budget_usd),
      max_turns: Math.min(given.max_turns ?? DEFAULT_TURNS, policy.max_turns_limit),
    };
  }

  return {
    files: createFileRules(policy),
    openText,
    async query(given, signal) {
      const about = aboutOf(given);
      const ask = rlm.replay_dir === undefined ? live : recording(live, rlm.replay_dir, about);
      const seconds = Math.min(given.timeout_s ?? policy.default_timeout_s, policy.timeout_s_limit);
      return within(seconds, signal, async (inner, until_ms) => {
        const leave = await enter(given.owner, inner);
        try {
          return await startRun(about, given, { ...options, ...deps, models, ask, until_ms, waits: true }, inner);
        } finally {
          leave();
        }
      });
    },
    async replay(file, given, signal) {
      const { about, ask } = openRecording(file);
      if (textHash(given.context) !== about.context_sha256)
        throw new Fault("invalid_args", "The text is not the one that was recorded.", {
          hint: "Give the same file or context.",
        });
      const recorded = createModels(policy, { ...rlm, root_model: about.model }, deps.secret);
      const how = { ask, until_ms: Number.POSITIVE_INFINITY, waits: false };
      return startRun(about, given, { ...options, ...deps, ...how, models: recorded }, signal);
    },
    complete: (prompt, { max_output_tokens, budget_usd }, signal) =>
      within(COMPLETE_S, signal, async (inner, until_ms) => {
        const ledger = createLedger(Math.min(budget_usd, policy.max_budget_usd), rlm.max_calls);
        const model = models.sub(models.root());
        const messages = [{ role: "user" as const, content: prompt }];
        const request = { system: SUB_SYSTEM, messages, max_output_tokens };
        const { text } = await askMetered({ ask: live, ledger, until_ms, waits: true }, model, request, inner);
        return { text, cost_usd: ledger.summary().total_cost_usd };
      }),
    close() {
      local.close();
      remote.close();
    },
  };
}
