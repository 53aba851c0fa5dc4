import type { RecordableHistogram } from "node:perf_hooks";
import type { Counter, Histogram, Registry } from "prom-client";

export interface Observation {
  readonly tool: string;
  readonly code: string;
  readonly duration_ms: number;
  readonly tokens_in: number;
  readonly tokens_out: number;
}

export interface ToolFigures {
  readonly calls: number;
  readonly errors: number;
  readonly p50_ms: number;
  readonly p95_ms: number;
  readonly p99_ms: number;
}

export interface MetricsSnapshot {
  readonly enabled: boolean;
  readonly uptime_s: number;
  readonly calls: number;
  readonly errors: Readonly<Record<string, number>>;
  readonly tokens_in: number;
  readonly tokens_out: number;
  readonly tools: Readonly<Record<string, ToolFigures>>;
  /** Digests of command output. */
  readonly te: Omit<ToolFigures, "errors">;
}

export interface Metrics {
  observe(observation: Observation): void;
  observeDigest(ms: number): void;
  snapshot(): MetricsSnapshot;
  /** The Prometheus exposition. */
  prometheus(): Promise<string>;
}

interface Tally {
  calls: number;
  errors: number;
  readonly latency_us: RecordableHistogram;
}

/** Microseconds up to an hour at two figures: 25 KB a tool. */
const LATENCY = { lowest: 1, highest: 3_600_000_000, figures: 2 };

/** Percentiles come from exact-ish native histograms; the Prometheus registry is filled from the same observations. */
export function createMetrics(): Metrics {
  const started = performance.now();
  const tallies = new Map<string, Tally>();
  const errors: Record<string, number> = {};
  const tokens = { in: 0, out: 0 };
  const digests = new Map<string, Tally>();
  const prom = createExposition();

  return {
    observe(seen) {
      const tally = tallyOf(tallies, seen.tool);
      tally.calls++;
      tally.latency_us.record(Math.max(1, Math.round(seen.duration_ms * 1000)));
      if (seen.code !== "ok") {
        tally.errors++;
        errors[seen.code] = (errors[seen.code] ?? 0) + 1;
      }
      tokens.in += seen.tokens_in;
      tokens.out += seen.tokens_out;
      prom.observe(seen);
    },
    observeDigest(ms) {
      const tally = tallyOf(digests, "te");
      tally.calls++;
      tally.latency_us.record(Math.max(1, Math.round(ms * 1000)));
      prom.observe({ digest_ms: ms });
    },
    snapshot: () => ({
      enabled: true,
      uptime_s: Math.round((performance.now() - started) / 1000),
      calls: [...tallies.values()].reduce((sum, tally) => sum + tally.calls, 0),
      errors: { ...errors },
      tokens_in: tokens.in,
      tokens_out: tokens.out,
      tools: Object.fromEntries(
        [...tallies].sort(([a], [b]) => (a < b ? -1 : 1)).map(([tool, tally]) => [tool, figures(tally)]),
      ),
      te: withoutErrors(figures(tallyOf(digests, "te"))),
    }),
    prometheus: prom.text,
  };
}

function tallyOf(tallies: Map<string, Tally>, tool: string): Tally {
  let tally = tallies.get(tool);
  if (!tally)
    tallies.set(
      tool,
      (tally = {
        calls: 0,
        errors: 0,
        latency_us: process.getBuiltinModule("node:perf_hooks").createHistogram(LATENCY),
      }),
    );
  return tally;
}

function figures(tally: Tally): ToolFigures {
  const ms = (percentile: number) => Math.round(tally.latency_us.percentile(percentile)) / 1000;
  return { calls: tally.calls, errors: tally.errors, p50_ms: ms(50), p95_ms: ms(95), p99_ms: ms(99) };
}

function withoutErrors({ errors: _, ...rest }: ToolFigures): Omit<ToolFigures, "errors"> {
  return rest;
}

/** A call, or a digest. */
type Seen = Observation | { readonly digest_ms: number };

interface Instruments {
  readonly registry: Registry;
  readonly calls: Counter;
  readonly duration: Histogram;
  readonly tokens: Counter;
  readonly digests: Histogram;
}

/** The Prometheus side, loaded after the first observation so that a start does not pay for it. */
function createExposition(): { observe(seen: Seen): void; text(): Promise<string> } {
  let waiting: Seen[] = [];
  let loading: Promise<Instruments> | undefined;
  let ready: Instruments | undefined;

  async function load(): Promise<Instruments> {
    const { Counter, Histogram, Registry } = (await import("prom-client")).default;
    const registry = new Registry();
    const made: Instruments = {
      registry,
      calls: new Counter({
        name: "llmc_tool_calls_total",
        help: "Calls by tool and outcome.",
        labelNames: ["tool", "code"],
        registers: [registry],
      }),
      duration: new Histogram({
        name: "llmc_tool_duration_seconds",
        help: "Time from a call's arrival to its reply.",
        labelNames: ["tool"],
        buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
        registers: [registry],
      }),
      tokens: new Counter({
        name: "llmc_tokens_total",
        help: "Estimated tokens read from and sent to models.",
        labelNames: ["direction"],
        registers: [registry],
      }),
      digests: new Histogram({
        name: "llmc_te_duration_seconds",
        help: "Time that the Tool Envelope took to digest a command's output.",
        buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1],
        registers: [registry],
      }),
    };
    for (const seen of waiting) record(made, seen);
    waiting = [];
    ready = made;
    return made;
  }

  return {
    observe(seen) {
      if (ready) return record(ready, seen);
      waiting.push(seen);
      (loading ??= load()).catch(() => {});
    },
    text: async () => (await (loading ??= load())).registry.metrics(),
  };
}

function record(to: Instruments, seen: Seen): void {
  if ("digest_ms" in seen) return to.digests.observe(seen.digest_ms / 1000);
  to.calls.inc({ tool: seen.tool, code: seen.code });
  to.duration.observe({ tool: seen.tool }, seen.duration_ms / 1000);
  to.tokens.inc({ direction: "in" }, seen.tokens_in);
  to.tokens.inc({ direction: "out" }, seen.tokens_out);
}
