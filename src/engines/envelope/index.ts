/** The Tool Envelope: what a command printed becomes what a model needs of it, within a budget, and is told to the telemetry. */
import { Fault } from "../../base/fault.ts";
import { quickHash } from "../../base/hash.ts";
import type { Principal } from "../../base/principal.ts";
import type { Schema, Store } from "../../base/store/types.ts";
import { type Allowance, allowance, type Who } from "./budget.ts";
import { type Collector, createCollector } from "./collect.ts";
import { type Shortened, shorten } from "./digest.ts";
import type { BudgetOptions, TeOptions } from "./options.ts";
import { openStore, type Stats, type TelemetryStore } from "./store.ts";
import type { Ran } from "./types.ts";

export { type TeAnswer, teAnswer, teText } from "./answer.ts";
export { short, statsTable } from "./stats-table.ts";
export { type StatRow, type Stats, TELEMETRY } from "./store.ts";
export { parseTe, type TeAsk, teAsk } from "./words.ts";

export type EnvelopeOptions = TeOptions & { readonly budgets: BudgetOptions };

interface EnvelopeDeps {
  /** Absolute. */
  readonly state_dir: string;
  /** Opens a part of the store that replicas share; without it the state folder holds a file. */
  readonly openShared?: ((schema: Schema) => Promise<Store>) | undefined;
  /** Called before the first row is kept. */
  prepare(): void;
  /** What a text costs a model. */
  countTokens(text: string): number;
  /** Told how long each digest took. */
  onDigest?(ms: number): void;
}

/** Takes a command's output while it runs. */
export interface Watch {
  readonly push: (stream: "stdout" | "stderr", chunk: Uint8Array) => void;
}

interface Ended {
  readonly who: Who;
  readonly principal: Principal;
  /** As it was asked for, the program's name first. */
  readonly argv: readonly string[];
  readonly exit_code: number;
  readonly timed_out: boolean;
  readonly signal: string | null;
  readonly duration_ms: number;
  /** Where the whole output already is. */
  readonly handle: string | undefined;
  /** Nothing is to be shortened. */
  readonly raw?: boolean;
  /** Keeps the whole output when the answer is not all of it. */
  keep(output: string): Promise<string | undefined>;
}

export interface Enveloped {
  readonly stdout: string;
  readonly stderr: string;
  readonly mode: "enriched" | "passthrough" | "raw";
  readonly match_count: number | null;
  readonly truncated: boolean;
  readonly handle: string | undefined;
  readonly tokens_estimate: number;
  readonly latency_ms: number;
  readonly budget_remaining: number | null;
}

export interface Envelope {
  readonly options: TeOptions;
  watch(): Watch;
  /** What a model gets of the run that was watched. */
  finish(watch: Watch, ended: Ended): Promise<Enveloped>;
  /** Of one principal, or of all; from a time on. */
  stats(principal?: Principal, since_ms?: number): Promise<Stats>;
  close(): Promise<void>;
}

interface Watched extends Watch {
  readonly stdout: Collector;
  readonly stderr: Collector;
}

export function createEnvelope({ budgets, ...options }: EnvelopeOptions, deps: EnvelopeDeps): Envelope {
  let store: TelemetryStore | undefined;
  function opened(): TelemetryStore {
    if (!store) deps.prepare();
    return (store ??= openStore(deps.state_dir, deps.openShared));
  }

  /** Telemetry that cannot be kept must not cost the answer. */
  async function tried<T>(work: () => Promise<T>, otherwise: T): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof Fault && error.code === "store_unavailable") return otherwise;
      throw error;
    }
  }

  function digested(ran: Ran, room: number, raw: boolean): { short: Shortened; failed: boolean } {
    const whole: Shortened = { stdout: ran.stdout, stderr: ran.stderr, kind: undefined, match_count: undefined };
    if (raw) return { short: whole, failed: false };
    try {
      return { short: shorten(ran, room), failed: false };
    } catch (cause) {
      if (options.passthrough_on_failure) return { short: whole, failed: true };
      throw new Fault("internal_error", "The output could not be digested.", { cause, hint: "Run it with raw: true." });
    }
  }

  return {
    options,
    watch() {
      const watched: Watched = {
        stdout: createCollector(),
        stderr: createCollector(),
        push: (stream, chunk) => watched[stream].push(chunk),
      };
      return watched;
    },
    async finish(watch, ended) {
      const began = performance.now();
      const { stdout, stderr } = watch as Watched;
      const [out, err] = [stdout.end(), stderr.end()];
      const condensed = out.condensed || err.condensed;
      const { argv, exit_code, who } = ended;
      const ran: Ran = { argv, stdout: out.text, stderr: err.text, exit_code, lines: out.lines, condensed };
      const spent = await tried(() => opened().spent(ended.principal, who), 0);
      const allowed: Allowance = allowance(budgets, who, spent);
      const { short, failed } = digested(ran, allowed.room, ended.raw === true);
      const truncated = short.kind !== undefined || condensed;
      const handle = truncated ? (ended.handle ?? (await ended.keep(joined(ran)))) : ended.handle;
      const te_ms = performance.now() - began;
      const chars_out = short.stdout.length + short.stderr.length;
      const tokens_estimate = tokensOf(short.stdout, deps) + tokensOf(short.stderr, deps);
      const mode = ended.raw ? "raw" : short.kind === undefined ? "passthrough" : "enriched";
      deps.onDigest?.(te_ms);
      await tried(
        () =>
          opened().record({
            ...who,
            principal: ended.principal,
            command: (argv[0] ?? "").slice(0, 100),
            arguments_hash: quickHash(argv.slice(1).join("\0")),
            arguments: options.store_arguments ? argv.slice(1).join(" ").slice(0, 4096) : null,
            mode,
            kind: short.kind ?? null,
            chars_in: stdout.bytes + stderr.bytes,
            chars_out,
            tokens_in: truncated
              ? tokensOf(ran.stdout, deps, stdout.bytes) + tokensOf(ran.stderr, deps, stderr.bytes)
              : tokens_estimate,
            tokens_out: tokens_estimate,
            latency_ms: ended.duration_ms,
            te_ms,
            exit_code,
            error: failed
              ? "digest"
              : ended.timed_out
                ? "timeout"
                : (ended.signal ?? (exit_code === 0 ? null : `exit ${exit_code}`)),
          }),
        undefined,
      );
      return {
        stdout: short.stdout,
        stderr: short.stderr,
        mode,
        match_count: short.match_count ?? null,
        truncated,
        handle,
        tokens_estimate,
        latency_ms: Math.round((ended.duration_ms + te_ms) * 10) / 10,
        budget_remaining: allowed.left === null ? null : Math.max(0, allowed.left - chars_out),
      };
    },
    stats: async (principal, since_ms = 0) => opened().stats(principal, since_ms),
    close: async () => store?.close(),
  };
}

function joined({ stdout, stderr }: Ran): string {
  if (stderr === "") return stdout;
  return `${stdout}${stdout === "" || stdout.endsWith("\n") ? "" : "\n"}${stderr}`;
}

const SAMPLE = 16_384;

/** Long texts are counted by a sample: this is telemetry, not a bound. */
function tokensOf(text: string, deps: EnvelopeDeps, length = text.length): number {
  if (text.length <= SAMPLE) return deps.countTokens(text);
  const middle = (text.length - SAMPLE) >> 1;
  return Math.round((deps.countTokens(text.slice(middle, middle + SAMPLE)) * length) / SAMPLE);
}
