import type { Schema } from "../../base/store/types.ts";

/** `fence` counts who had the session; `held_until` is when a holder that fell silent has lost it. */
export const SESSIONS: Schema = {
  name: "sandbox",
  sqlite: [
    `CREATE TABLE sessions (
       owner TEXT NOT NULL, session_id TEXT NOT NULL, language TEXT NOT NULL, default_key TEXT, persist INTEGER NOT NULL,
       created_at INTEGER NOT NULL, last_used_at INTEGER NOT NULL, execution_count INTEGER NOT NULL, saved_count INTEGER NOT NULL,
       holder TEXT, PRIMARY KEY (owner, session_id)) STRICT;
     CREATE UNIQUE INDEX default_session ON sessions (owner, default_key, language) WHERE default_key IS NOT NULL;
     CREATE TABLE images (
       owner TEXT NOT NULL, session_id TEXT NOT NULL, look TEXT NOT NULL, image BLOB NOT NULL,
       PRIMARY KEY (owner, session_id),
       FOREIGN KEY (owner, session_id) REFERENCES sessions (owner, session_id) ON DELETE CASCADE) STRICT;`,
    `ALTER TABLE sessions ADD COLUMN fence INTEGER NOT NULL DEFAULT 0;
     ALTER TABLE sessions ADD COLUMN held_until INTEGER NOT NULL DEFAULT 0;
     ALTER TABLE sessions ADD COLUMN cancelled INTEGER NOT NULL DEFAULT 0;`,
  ],
  postgres: [
    `CREATE TABLE sessions (
       owner TEXT NOT NULL, session_id TEXT NOT NULL, language TEXT NOT NULL, default_key TEXT, persist INTEGER NOT NULL,
       created_at BIGINT NOT NULL, last_used_at BIGINT NOT NULL, execution_count BIGINT NOT NULL, saved_count BIGINT NOT NULL,
       holder TEXT, fence BIGINT NOT NULL DEFAULT 0, held_until BIGINT NOT NULL DEFAULT 0, cancelled BIGINT NOT NULL DEFAULT 0,
       PRIMARY KEY (owner, session_id));
     CREATE UNIQUE INDEX default_session ON sessions (owner, default_key, language) WHERE default_key IS NOT NULL;
     CREATE TABLE images (
       owner TEXT NOT NULL, session_id TEXT NOT NULL, look TEXT NOT NULL, image BYTEA NOT NULL,
       PRIMARY KEY (owner, session_id),
       FOREIGN KEY (owner, session_id) REFERENCES sessions (owner, session_id) ON DELETE CASCADE);
     ALTER TABLE images ALTER COLUMN image SET STORAGE EXTERNAL;`,
  ],
};
