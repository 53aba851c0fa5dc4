import { join } from "node:path";
import { type Db, openDb } from "../../base/db.ts";
import type { Principal } from "../../base/principal.ts";
import type { Look } from "./runtimes/types.ts";
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
  /** The server process that has it live. */
  readonly holder: string | null;
}

export interface Saved {
  readonly image: Uint8Array;
  readonly look: Look;
  readonly execution_count: number;
}

/** Sessions at rest. Asynchronous, so that another database can carry them. */
export interface SessionStore {
  find(owner: Principal, session_id: string): Promise<SessionRow | undefined>;
  findDefault(owner: Principal, key: string, language: Language): Promise<SessionRow | undefined>;
  list(owner: Principal): Promise<SessionRow[]>;
  /** False when the name is taken. */
  add(row: SessionRow): Promise<boolean>;
  touch(owner: Principal, session_id: string, now: number, execution_count: number): Promise<void>;
  hold(owner: Principal, session_id: string, holder: string | null): Promise<void>;
  save(owner: Principal, session_id: string, saved: Saved): Promise<void>;
  load(owner: Principal, session_id: string): Promise<Saved | undefined>;
  /** As it was when it was made. */
  reset(owner: Principal, session_id: string): Promise<void>;
  remove(owner: Principal, session_id: string): Promise<boolean>;
  expire(before: number): Promise<void>;
  close(): void;
}

const MIGRATIONS = [
  `CREATE TABLE sessions (
     owner TEXT NOT NULL, session_id TEXT NOT NULL, language TEXT NOT NULL, default_key TEXT, persist INTEGER NOT NULL,
     created_at INTEGER NOT NULL, last_used_at INTEGER NOT NULL, execution_count INTEGER NOT NULL, saved_count INTEGER NOT NULL,
     holder TEXT, PRIMARY KEY (owner, session_id)) STRICT;
   CREATE UNIQUE INDEX default_session ON sessions (owner, default_key, language) WHERE default_key IS NOT NULL;
   CREATE TABLE images (
     owner TEXT NOT NULL, session_id TEXT NOT NULL, look TEXT NOT NULL, image BLOB NOT NULL,
     PRIMARY KEY (owner, session_id),
     FOREIGN KEY (owner, session_id) REFERENCES sessions (owner, session_id) ON DELETE CASCADE) STRICT;`,
];

const COLUMNS = `s.owner, s.session_id, s.language, s.default_key, s.persist, s.created_at, s.last_used_at, s.execution_count,
  s.saved_count, s.holder, coalesce(length(i.image), 0) AS bytes FROM sessions s LEFT JOIN images i USING (owner, session_id)`;

export function openSessionStore(state_dir: string): SessionStore {
  const db: Db = openDb(join(state_dir, "sandbox.db"), { migrations: MIGRATIONS });
  const typed = (row: SessionRow | undefined) => (row ? { ...row, persist: Boolean(row.persist) } : undefined);
  return {
    find: async (owner, id) =>
      typed(db.get<SessionRow>(`SELECT ${COLUMNS} WHERE s.owner = ? AND s.session_id = ?`, owner, id)),
    findDefault: async (owner, key, language) =>
      typed(
        db.get<SessionRow>(
          `SELECT ${COLUMNS} WHERE s.owner = ? AND s.default_key = ? AND s.language = ?`,
          owner,
          key,
          language,
        ),
      ),
    list: async (owner) =>
      db
        .all<SessionRow>(`SELECT ${COLUMNS} WHERE s.owner = ? ORDER BY s.created_at, s.session_id`, owner)
        .map((row) => typed(row)!),
    add: async (row) =>
      db.run(
        "INSERT OR IGNORE INTO sessions VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        row.owner,
        row.session_id,
        row.language,
        row.default_key,
        row.persist ? 1 : 0,
        row.created_at,
        row.last_used_at,
        row.execution_count,
        row.saved_count,
        row.holder,
      ).changes === 1,
    async touch(owner, id, now, execution_count) {
      db.run(
        "UPDATE sessions SET last_used_at = ?, execution_count = ? WHERE owner = ? AND session_id = ?",
        now,
        execution_count,
        owner,
        id,
      );
    },
    async hold(owner, id, holder) {
      db.run("UPDATE sessions SET holder = ? WHERE owner = ? AND session_id = ?", holder, owner, id);
    },
    async save(owner, id, { image, look, execution_count }) {
      db.transaction(() => {
        const { changes } = db.run(
          "UPDATE sessions SET saved_count = ?, execution_count = max(execution_count, ?) WHERE owner = ? AND session_id = ?",
          execution_count,
          execution_count,
          owner,
          id,
        );
        if (changes === 0) return;
        db.run("INSERT OR REPLACE INTO images VALUES (?, ?, ?, ?)", owner, id, JSON.stringify(look), image);
      });
    },
    async load(owner, id) {
      const row = db.get<{ look: string; image: Uint8Array; saved_count: number }>(
        "SELECT look, image, saved_count FROM images JOIN sessions USING (owner, session_id) WHERE owner = ? AND session_id = ?",
        owner,
        id,
      );
      return row && { image: row.image, look: JSON.parse(row.look) as Look, execution_count: row.saved_count };
    },
    async reset(owner, id) {
      db.transaction(() => {
        db.run("DELETE FROM images WHERE owner = ? AND session_id = ?", owner, id);
        db.run(
          "UPDATE sessions SET execution_count = 0, saved_count = 0 WHERE owner = ? AND session_id = ?",
          owner,
          id,
        );
      });
    },
    remove: async (owner, id) =>
      db.run("DELETE FROM sessions WHERE owner = ? AND session_id = ?", owner, id).changes === 1,
    async expire(before) {
      db.run("DELETE FROM sessions WHERE last_used_at < ?", before);
    },
    close: () => db.close(),
  };
}
