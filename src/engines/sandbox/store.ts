import { join } from "node:path";
import type { Principal } from "../../base/principal.ts";
import { openSqlite } from "../../base/store/sqlite.ts";
import type { Schema, SqlValue, Store } from "../../base/store/types.ts";
import type { Look } from "./runtimes/types.ts";
import { SESSIONS } from "./schema.ts";
import type { Language } from "./types.ts";

export interface SessionRow {
  readonly session_id: string;
  readonly owner: Principal;
  readonly language: Language;
  /** Found again by this when a call names no session. */
  readonly default_key: string | null;
  readonly persist: boolean;
  readonly created_at: number;
  readonly last_used_at: number;
  readonly execution_count: number;
  /** How many runs the stored image has seen. */
  readonly saved_count: number;
  readonly bytes: number;
  /** The server process that has it. */
  readonly holder: string | null;
  /** One more with each that takes it. */
  readonly fence: number;
  readonly held_until: number;
}

/** A session in the hands of one process. What it writes after another took the session is refused. */
export interface Hand {
  readonly owner: Principal;
  readonly session_id: string;
  readonly fence: number;
}

export interface Saved {
  readonly image: Uint8Array;
  readonly look: Look;
  readonly execution_count: number;
}

/** Sessions at rest. */
export interface SessionStore {
  find(owner: Principal, session_id: string): Promise<SessionRow | undefined>;
  findDefault(owner: Principal, key: string, language: Language): Promise<SessionRow | undefined>;
  list(owner: Principal): Promise<SessionRow[]>;
  /** False when the name is taken. */
  add(row: SessionRow): Promise<boolean>;
  /** Its new fence, or none when another took it meanwhile. */
  take(row: SessionRow, holder: string, held_until: number): Promise<number | undefined>;
  /** Still here. Whether it is still ours, and whether someone asked to end the run. */
  keep(hand: Hand, held_until: number): Promise<"held" | "lost" | "cancelled">;
  release(hand: Hand): Promise<void>;
  /** Asks whoever has it to end the run. */
  askToCancel(owner: Principal, session_id: string): Promise<void>;
  /** These two: false when it is no longer ours. */
  touch(hand: Hand, now: number, execution_count: number): Promise<boolean>;
  save(hand: Hand, saved: Saved): Promise<boolean>;
  load(owner: Principal, session_id: string): Promise<Saved | undefined>;
  look(owner: Principal, session_id: string): Promise<Look | undefined>;
  /** As it was when it was made. */
  reset(hand: Hand): Promise<void>;
  remove(owner: Principal, session_id: string): Promise<boolean>;
  /** Only if nobody took it after us. */
  removeUnused(hand: Hand): Promise<void>;
  expire(before: number): Promise<void>;
  close(): Promise<void>;
}

const ROW = `s.owner, s.session_id, s.language, s.default_key, s.persist, s.created_at, s.last_used_at, s.execution_count,
  s.saved_count, s.holder, s.fence, s.held_until, coalesce(length(i.image), 0) AS bytes
  FROM sessions s LEFT JOIN images i ON i.owner = s.owner AND i.session_id = s.session_id WHERE s.owner = ?`;
const THIS = "owner = ? AND session_id = ?";
/** PostgreSQL gives one large value four times as slowly as the same in parts. */
const IMAGE = {
  sqlite: `SELECT image FROM images WHERE ${THIS}`,
  postgres: `SELECT substr(image, n * 262144 + 1, 262144)
    FROM images, generate_series(0, (length(image) - 1) / 262144) AS n WHERE ${THIS} ORDER BY n`,
} as const;
const OURS = `${THIS} AND fence = ?`;

export async function openSessionStore(
  state_dir: string,
  openShared: ((schema: Schema) => Promise<Store>) | undefined,
): Promise<SessionStore> {
  const db = openShared ? await openShared(SESSIONS) : openSqlite(join(state_dir, `${SESSIONS.name}.db`), SESSIONS);
  const ours = ({ owner, session_id, fence }: Hand) => [owner, session_id, fence] as const;
  const change = async (sql: string, ...values: SqlValue[]) => (await db.run(sql, ...values)).changes === 1;

  async function rows(sql: string, ...values: SqlValue[]): Promise<SessionRow[]> {
    const found = await db.all<SessionRow>(`SELECT ${ROW} ${sql}`, ...values);
    return found.map((row) => ({ ...row, persist: Boolean(row.persist) }));
  }

  return {
    find: async (owner, id) => (await rows("AND s.session_id = ?", owner, id))[0],
    findDefault: async (owner, key, language) =>
      (await rows("AND s.default_key = ? AND s.language = ?", owner, key, language))[0],
    list: (owner) => rows("ORDER BY s.created_at, s.session_id", owner),
    add: (row) =>
      change(
        `INSERT INTO sessions (owner, session_id, language, default_key, persist, created_at, last_used_at, execution_count,
           saved_count) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
        row.owner,
        row.session_id,
        row.language,
        row.default_key,
        row.persist ? 1 : 0,
        row.created_at,
        row.last_used_at,
        row.execution_count,
        row.saved_count,
      ),
    async take(row, holder, held_until) {
      const sql = `UPDATE sessions SET holder = ?, held_until = ?, fence = fence + 1 WHERE ${OURS}`;
      return (await change(sql, holder, held_until, ...ours(row))) ? row.fence + 1 : undefined;
    },
    async keep(hand, held_until) {
      const sql = `UPDATE sessions SET held_until = ? WHERE ${OURS} RETURNING cancelled`;
      const row = await db.get<{ cancelled: number }>(sql, held_until, ...ours(hand));
      return !row ? "lost" : row.cancelled === hand.fence ? "cancelled" : "held";
    },
    async release(hand) {
      await change(`UPDATE sessions SET holder = NULL, held_until = 0 WHERE ${OURS}`, ...ours(hand));
    },
    async askToCancel(owner, id) {
      await change(`UPDATE sessions SET cancelled = fence WHERE ${THIS}`, owner, id);
    },
    touch: (hand, now, execution_count) =>
      change(
        `UPDATE sessions SET last_used_at = ?, execution_count = ? WHERE ${OURS}`,
        now,
        execution_count,
        ...ours(hand),
      ),
    save: (hand, { image, look, execution_count }) =>
      db.transaction(async (tx) => {
        const counted = `UPDATE sessions SET saved_count = ?,
          execution_count = CASE WHEN execution_count > ? THEN execution_count ELSE ? END WHERE ${OURS}`;
        const counts = [execution_count, execution_count, execution_count] as const;
        if ((await tx.run(counted, ...counts, ...ours(hand))).changes === 0) return false;
        const stored = `INSERT INTO images VALUES (?, ?, ?, ?) ON CONFLICT (owner, session_id)
          DO UPDATE SET look = excluded.look, image = excluded.image`;
        await tx.run(stored, hand.owner, hand.session_id, JSON.stringify(look), image);
        return true;
      }),
    async load(owner, id) {
      const sql = `SELECT look, saved_count FROM images JOIN sessions USING (owner, session_id) WHERE ${THIS}`;
      const row = await db.get<{ look: string; saved_count: number }>(sql, owner, id);
      const image = row && (await db.bytes(IMAGE[db.backend], owner, id));
      if (!row || !image || image.length === 0) return undefined;
      return { image, look: JSON.parse(row.look) as Look, execution_count: row.saved_count };
    },
    async look(owner, id) {
      const row = await db.get<{ look: string }>(`SELECT look FROM images WHERE ${THIS}`, owner, id);
      return row && (JSON.parse(row.look) as Look);
    },
    async reset(hand) {
      await db.transaction(async (tx) => {
        const counted = `UPDATE sessions SET execution_count = 0, saved_count = 0 WHERE ${OURS}`;
        if ((await tx.run(counted, ...ours(hand))).changes === 0) return;
        await tx.run(`DELETE FROM images WHERE ${THIS}`, hand.owner, hand.session_id);
      });
    },
    remove: (owner, id) => change(`DELETE FROM sessions WHERE ${THIS}`, owner, id),
    async removeUnused(hand) {
      await change(`DELETE FROM sessions WHERE ${OURS}`, ...ours(hand));
    },
    async expire(before) {
      await db.run("DELETE FROM sessions WHERE last_used_at < ?", before);
    },
    close: () => db.close(),
  };
}
