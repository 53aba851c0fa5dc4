import { join } from "node:path";
import { type Db, openDb } from "../../base/db.ts";
import { Fault } from "../../base/fault.ts";
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

export interface Store {
  /** Characters that a session has read so far. */
  spent(principal: string, who: Who): number;
  record(row: CallRow): void;
  /** Of one principal, or of all; from a time on. */
  stats(principal: string | undefined, since_ms: number): Stats;
  close(): void;
}

const MIGRATIONS = [
  `CREATE TABLE call (id INTEGER PRIMARY KEY, time_ms INTEGER NOT NULL, principal TEXT NOT NULL, agent TEXT NOT NULL,
     session TEXT NOT NULL, model TEXT NOT NULL, command TEXT NOT NULL, arguments_hash TEXT NOT NULL, arguments TEXT,
     mode TEXT NOT NULL, kind TEXT, chars_in INTEGER NOT NULL, chars_out INTEGER NOT NULL, tokens_in INTEGER NOT NULL,
     tokens_out INTEGER NOT NULL, latency_ms REAL NOT NULL, te_ms REAL NOT NULL, exit_code INTEGER NOT NULL, error TEXT) STRICT;
   CREATE TABLE spent (principal TEXT NOT NULL, agent TEXT NOT NULL, session TEXT NOT NULL, chars INTEGER NOT NULL,
     time_ms INTEGER NOT NULL, PRIMARY KEY (principal, agent, session)) STRICT, WITHOUT ROWID;`,
];

const KEPT_CALLS = 100_000;
const KEPT_SESSIONS_MS = 30 * 86_400_000;

/** state_dir/telemetry.db, opened by the first call that ended, shared by servers and te. */
export function openStore(state_dir: string): Store {
  let db: Db | undefined;
  let closed = false;
  function open(): Db {
    if (closed) throw new Fault("store_unavailable", "The telemetry store is closed.");
    if (db) return db;
    db = openDb(join(state_dir, "telemetry.db"), { migrations: MIGRATIONS });
    return db;
  }

  return {
    spent: (principal, { agent_id, session_id }) =>
      open().get<{ chars: number }>(
        "SELECT chars FROM spent WHERE principal = ? AND agent = ? AND session = ?",
        principal,
        agent_id,
        session_id,
      )?.chars ?? 0,
    record(row) {
      const now = Date.now();
      open().transaction(() => {
        insert(open(), row, now);
        open().run(
          `INSERT INTO spent VALUES (?, ?, ?, ?, ?)
           ON CONFLICT DO UPDATE SET chars = chars + excluded.chars, time_ms = excluded.time_ms`,
          row.principal,
          row.agent_id,
          row.session_id,
          row.chars_out,
          now,
        );
      });
    },
    stats(principal, since_ms) {
      const rows = open().all<StatSource>(
        `SELECT command, agent, latency_ms, tokens_in, tokens_out, error FROM call
         WHERE (?1 IS NULL OR principal = ?1) AND time_ms >= ?2 ORDER BY id DESC LIMIT ${KEPT_CALLS}`,
        principal ?? null,
        since_ms,
      );
      return {
        total: figures("total", rows),
        commands: grouped(rows, ({ command }) => command),
        agents: grouped(rows, ({ agent }) => agent),
      };
    },
    close() {
      if (!closed) db?.close();
      closed = true;
    },
  };
}

function insert(db: Db, row: CallRow, now: number): void {
  const id = db.get<{ id: number }>(
    `INSERT INTO call (time_ms, principal, agent, session, model, command, arguments_hash, arguments, mode, kind,
       chars_in, chars_out, tokens_in, tokens_out, latency_ms, te_ms, exit_code, error)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`,
    now,
    row.principal,
    row.agent_id,
    row.session_id,
    row.model,
    row.command,
    row.arguments_hash,
    row.arguments,
    row.mode,
    row.kind,
    row.chars_in,
    row.chars_out,
    row.tokens_in,
    row.tokens_out,
    row.latency_ms,
    row.te_ms,
    row.exit_code,
    row.error,
  )!.id;
  // Old rows go a few at a time, so that no call pays for all of them.
  if (id % 500 !== 0) return;
  db.run("DELETE FROM call WHERE id <= ?", id - KEPT_CALLS);
  db.run("DELETE FROM spent WHERE time_ms < ?", now - KEPT_SESSIONS_MS);
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
