import { createHistogram, type RecordableHistogram } from "node:perf_hooks";
import type { AuditRecord } from "../../engines/telemetry/index.ts";

/** Characters that one token carries: the audit keeps lengths, not texts. The answers of sixteen tasks (bench/lib) had 2.9 by o200k. */
const CHARS_PER_TOKEN = 3;

export interface Row {
  readonly name: string;
  readonly calls: number;
  readonly errors: number;
  readonly p50_ms: number;
  readonly p95_ms: number;
  readonly tokens: number;
}

export interface Figures {
  readonly calls: number;
  /** Made by code inside execute_code. */
  readonly nested: number;
  readonly errors: Readonly<Record<string, number>>;
  readonly p50_ms: number;
  readonly p95_ms: number;
  /** What models read, about. */
  readonly tokens_sent: number;
  /** What code read instead of a model, about. */
  readonly tokens_in_code: number;
  readonly sessions: number;
  readonly active_sessions: number;
  readonly tools: readonly Row[];
  readonly agents: readonly Row[];
  /** Calls of each of the last minutes, the newest last. */
  readonly minutes: readonly number[];
  readonly last: readonly AuditRecord[];
}

export interface Tally {
  add(record: AuditRecord): void;
  figures(now: number): Figures;
}

interface Sum {
  calls: number;
  errors: number;
  chars: number;
  readonly latency_us: RecordableHistogram;
}

const ACTIVE_MS = 5 * 60_000;
const MINUTES = 30;
const LAST = 20;

/** Adds up the audit, record by record, in bounded memory. */
export function createTally(): Tally {
  const all = sum();
  const tools = new Map<string, Sum>();
  const agents = new Map<string, Sum>();
  const errors: Record<string, number> = {};
  const sessions = new Map<string, number>();
  const minutes = new Map<number, number>();
  const nested = { calls: 0, chars: 0 };
  let last: AuditRecord[] = [];

  return {
    add(record) {
      const time = Date.parse(record.time);
      if (record.error_code !== null) errors[record.error_code] = (errors[record.error_code] ?? 0) + 1;
      if (record.depth > 0) {
        nested.calls++;
        nested.chars += record.bytes_out;
      } else {
        count(all, record);
        count(of(agents, record.agent_id), record);
        sessions.set(`${record.principal}\0${record.agent_id}\0${record.session_id}`, time);
      }
      count(of(tools, record.tool), record);
      const minute = Math.floor(time / 60_000);
      minutes.set(minute, (minutes.get(minute) ?? 0) + 1);
      for (const old of minutes.keys()) if (old < minute - MINUTES) minutes.delete(old);
      last = [...last.slice(1 - LAST), record];
    },
    figures(now) {
      const minute = Math.floor(now / 60_000);
      return {
        calls: all.calls,
        nested: nested.calls,
        errors,
        p50_ms: at(all, 50),
        p95_ms: at(all, 95),
        tokens_sent: tokens(all.chars),
        tokens_in_code: tokens(nested.chars),
        sessions: sessions.size,
        active_sessions: [...sessions.values()].filter((time) => time > now - ACTIVE_MS).length,
        tools: rows(tools),
        agents: rows(agents),
        minutes: Array.from({ length: MINUTES }, (_, index) => minutes.get(minute - MINUTES + 1 + index) ?? 0),
        last,
      };
    },
  };
}

function sum(): Sum {
  return {
    calls: 0,
    errors: 0,
    chars: 0,
    latency_us: createHistogram({ lowest: 1, highest: 3_600_000_000, figures: 2 }),
  };
}

function of(sums: Map<string, Sum>, name: string): Sum {
  const known = sums.get(name) ?? sum();
  sums.set(name, known);
  return known;
}

function count(into: Sum, { error_code, bytes_out, duration_ms }: AuditRecord): void {
  into.calls++;
  if (error_code !== null) into.errors++;
  into.chars += bytes_out;
  into.latency_us.record(Math.max(1, Math.round(duration_ms * 1000)));
}

function rows(sums: ReadonlyMap<string, Sum>): Row[] {
  return [...sums]
    .map(([name, one]) => ({
      name,
      calls: one.calls,
      errors: one.errors,
      p50_ms: at(one, 50),
      p95_ms: at(one, 95),
      tokens: tokens(one.chars),
    }))
    .sort((a, b) => b.calls - a.calls || (a.name < b.name ? -1 : 1));
}

function at({ calls, latency_us }: Sum, percentile: number): number {
  return calls === 0 ? 0 : Math.round(latency_us.percentile(percentile) / 100) / 10;
}

function tokens(chars: number): number {
  return Math.round(chars / CHARS_PER_TOKEN);
}
