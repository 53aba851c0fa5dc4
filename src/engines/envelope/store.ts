import { join } from "node:path";
import { Fault } from "../../base/fault.ts";
import { openSqlite } from "../../base/store/sqlite.ts";
import type { Schema, Statements, Store } from "../../base/store/types.ts";
import type { Who } from "./budget.ts";

/** One call, as it is kept: sizes and times, never contents. */
export interface CallRow extends Who {
  readonly principal: string;
  readonly command: string;
  readonly arguments_hash: string;
  readonly arguments: string | null;
  readonly mode: string;
  readonly kind: string | null;
  readonly chars_in: number;
  readonly chars_out: number;
  readonly tokens_in: number;
  readonly tokens_out: number;
  readonly latency_ms: number;
  readonly te_ms: number;
  readonly exit_code: number;
  readonly error: string | null;
}

export interface StatRow {
  readonly name: string;
  readonly calls: number;
  readonly errors: number;
  readonly p50_ms: number;
  readonly p95_ms: number;
  readonly tokens_in: number;
  readonly tokens_out: number;
  readonly tokens_saved: number;
}

export interface Stats {
  readonly total: StatRow;
  readonly commands: readonly StatRow[];
  readonly agents: readonly StatRow[];
}

export interface TelemetryStore {
  /** Characters that a session has read so far. */
  spent(principal: string, who: Who): Promise<number>;
  record(row: CallRow): Promise<void>;
  /** Of one principal, or of all; from a time on. */
  stats(principal: string | undefined, since_ms: number): Promise<Stats>;
  close(): Promise<void>;
}

const SQLITE = [
  `CREATE TABLE call (id INTEGER PRIMARY KEY, time_ms INTEGER NOT NULL, principal TEXT NOT NULL, agent TEXT NOT NULL,
     session TEXT NOT NULL, model TEXT NOT NULL, command TEXT NOT NULL, arguments_hash TEXT NOT NULL, arguments TEXT,
     mode TEXT NOT NULL, kind TEXT, chars_in INTEGER NOT NULL, chars_out INTEGER NOT NULL, tokens_in INTEGER NOT NULL,
     tokens_out INTEGER NOT NULL, latency_ms REAL NOT NULL, te_ms REAL NOT NULL, exit_code INTEGER NOT NULL, error TEXT) STRICT;
   CREATE TABLE spent (principal TEXT NOT NULL, agent TEXT NOT NULL, session TEXT NOT NULL, chars INTEGER NOT NULL,
     time_ms INTEGER NOT NULL, PRIMARY KEY (principal, agent, session)) STRICT, WITHOUT ROWID;`,
];

const POSTGRES = [
  `CREATE TABLE call (id BIGSERIAL PRIMARY KEY, time_ms BIGINT NOT NULL, principal TEXT NOT NULL, agent TEXT NOT NULL,
     session TEXT NOT NULL, model TEXT NOT NULL, command TEXT NOT NULL, arguments_hash TEXT NOT NULL, arguments TEXT,
     mode TEXT NOT NULL, kind TEXT, chars_in BIGINT NOT NULL, chars_out BIGINT NOT NULL, tokens_in BIGINT NOT NULL,
     tokens_out BIGINT NOT NULL, latency_ms DOUBLE PRECISION NOT NULL, te_ms DOUBLE PRECISION NOT NULL, exit_code BIGINT NOT NULL, error TEXT);
   CREATE TABLE spent (principal TEXT NOT NULL, agent TEXT NOT NULL, session TEXT NOT NULL, chars BIGINT NOT NULL,
     time_ms BIGINT NOT NULL, PRIMARY KEY (principal, agent, session));`,
];

export const TELEMETRY: Schema = { name: "telemetry", sqlite: SQLITE, postgres: POSTGRES };

const KEPT_CALLS = 100_000;
const KEPT_SESSIONS_MS = 30 * 86_400_000;
const SPEND = `INSERT INTO spent VALUES (?, ?, ?, ?, ?) ON CONFLICT (principal, agent, session)
  DO UPDATE SET chars = spent.chars + excluded.chars, time_ms = excluded.time_ms`;
const INSERT = `INSERT INTO call (time_ms, principal, agent, session, model, command, arguments_hash, arguments, mode, kind,
    chars_in, chars_out, tokens_in, tokens_out, latency_ms, te_ms, exit_code, error)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`;

/** Opened by the first call that ended: state_dir/telemetry.db, shared by servers and te, or the store of all replicas. */
export function openStore(
  state_dir: string,
  openShared: ((schema: Schema) => Promise<Store>) | undefined,
): TelemetryStore {
  let opened: Promise<Store> | undefined;
  let closed = false;
  async function made(): Promise<Store> {
    return openShared ? openShared(TELEMETRY) : openSqlite(join(state_dir, `${TELEMETRY.name}.db`), TELEMETRY);
  }

  async function open(): Promise<Store> {
    if (closed) throw new Fault("store_unavailable", "The telemetry store is closed.");
    opened ??= made();
    try {
      return await opened;
    } catch (error) {
      opened = undefined;
      throw error;
    }
  }

  return {
    async spent(principal, { agent_id, session_id }) {
      const sql = "SELECT chars FROM spent WHERE principal = ? AND agent = ? AND session = ?";
      return (await (await open()).get<{ chars: number }>(sql, principal, agent_id, session_id))?.chars ?? 0;
    },
    async record(row) {
      const now = Date.now();
      await (await open()).transaction(async (tx) => {
        await insert(tx, row, now);
        await tx.run(SPEND, row.principal, row.agent_id, row.session_id, row.chars_out, now);
      });
    },
    async stats(principal, since_ms) {
      const whose = principal === undefined ? "" : "principal = ? AND";
      const rows = await (await open()).all<StatSource>(
        `SELECT command, agent, latency_ms, tokens_in, tokens_out, error FROM call
         WHERE ${whose} time_ms >= ? ORDER BY id DESC LIMIT ${KEPT_CALLS}`,
        ...(principal === undefined ? [] : [principal]),
        since_ms,
      );
      return {
        total: figures("total", rows),
        commands: grouped(rows, ({ command }) => command),
        agents: grouped(rows, ({ agent }) => agent),
      };
    },
    async close() {
      if (closed) return;
      closed = true;
      await (await opened?.catch(() => undefined))?.close();
    },
  };
}

async function insert(tx: Statements, row: CallRow, now: number): Promise<void> {
  const who = [row.principal, row.agent_id, row.session_id, row.model] as const;
  const what = [row.command, row.arguments_hash, row.arguments, row.mode, row.kind] as const;
  const sizes = [row.chars_in, row.chars_out, row.tokens_in, row.tokens_out] as const;
  const ended = [row.latency_ms, row.te_ms, row.exit_code, row.error] as const;
  const { id } = (await tx.get<{ id: number }>(INSERT, now, ...who, ...what, ...sizes, ...ended))!;
  // Old rows go a few at a time, so that no call pays for all of them.
  if (id % 500 !== 0) return;
  await tx.run("DELETE FROM call WHERE id <= ?", id - KEPT_CALLS);
  await tx.run("DELETE FROM spent WHERE time_ms < ?", now - KEPT_SESSIONS_MS);
}

interface StatSource {
  readonly command: string;
  readonly agent: string;
  readonly latency_ms: number;
  readonly tokens_in: number;
  readonly tokens_out: number;
  readonly error: string | null;
}

function grouped(rows: readonly StatSource[], key: (row: StatSource) => string): StatRow[] {
  const groups = new Map<string, StatSource[]>();
  for (const row of rows) {
    const group = groups.get(key(row));
    if (group) group.push(row);
    else groups.set(key(row), [row]);
  }
  return [...groups]
    .map(([name, group]) => figures(name, group))
    .sort((a, b) => b.tokens_saved - a.tokens_saved || b.calls - a.calls);
}

function figures(name: string, rows: readonly StatSource[]): StatRow {
  const times = rows.map(({ latency_ms }) => latency_ms).sort((a, b) => a - b);
  const at = (share: number) => Math.round((times[Math.max(0, Math.ceil(times.length * share) - 1)] ?? 0) * 10) / 10;
  const sum = (pick: (row: StatSource) => number) => rows.reduce((total, row) => total + pick(row), 0);
  const tokens_in = sum((row) => row.tokens_in);
  const tokens_out = sum((row) => row.tokens_out);
  return {
    name,
    calls: rows.length,
    errors: rows.filter(({ error }) => error !== null).length,
    p50_ms: at(0.5),
    p95_ms: at(0.95),
    tokens_in,
    tokens_out,
    tokens_saved: Math.max(0, tokens_in - tokens_out),
  };
}
