import type { Schema } from "../../base/store/types.ts";
import type { HandleState } from "./types.ts";

/** Every chunk of a blob has this size, but the last one: so a byte's chunk is known without asking. */
export const CHUNK_BYTES = 64 * 1024;

/** The order in which results came: the oldest leave first. A job takes its place when it ends. */
export const NEXT_RANK = {
  sqlite: "(SELECT coalesce(max(rank), 0) + 1 FROM handle)",
  // Two that insert at once must not get the same one.
  postgres: "nextval('handle_rank')",
} as const;

/**
 * A blob without a sha256 is being written by `writer`, or is on its way out. Small blobs have no line counts: there lines are found by looking. `total` is kept by triggers, so that the limits
 * hold across processes without counting rows.
 */
const SQLITE: readonly string[] = [
  `
  CREATE TABLE blob (
    id INTEGER PRIMARY KEY,
    sha256 BLOB UNIQUE,
    bytes INTEGER NOT NULL DEFAULT 0,
    lines INTEGER,
    writer TEXT,
    beat_ms INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  CREATE TABLE chunk (
    id INTEGER PRIMARY KEY,
    blob INTEGER NOT NULL,
    byte INTEGER NOT NULL,
    newlines INTEGER,
    data BLOB NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX chunk_by_byte ON chunk (blob, byte);
  CREATE INDEX chunk_by_line ON chunk (blob, newlines, byte) WHERE newlines IS NOT NULL;
  CREATE TABLE handle (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    kind TEXT NOT NULL,
    path TEXT,
    root TEXT,
    state TEXT NOT NULL,
    progress TEXT,
    bytes INTEGER NOT NULL DEFAULT 0,
    blob INTEGER REFERENCES blob (id),
    file TEXT,
    lines INTEGER,
    runner TEXT,
    cancel INTEGER NOT NULL DEFAULT 0,
    beat_ms INTEGER NOT NULL DEFAULT 0,
    rank INTEGER NOT NULL UNIQUE,
    created_ms INTEGER NOT NULL,
    expires_ms INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX handle_by_blob ON handle (blob);
  CREATE INDEX handle_by_expiry ON handle (expires_ms);
  CREATE INDEX handle_running ON handle (runner) WHERE state = 'running';
  CREATE TABLE mark (
    handle TEXT NOT NULL REFERENCES handle (id) ON DELETE CASCADE,
    newlines INTEGER NOT NULL,
    byte INTEGER NOT NULL,
    PRIMARY KEY (handle, newlines, byte)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE total (id INTEGER PRIMARY KEY CHECK (id = 1), handles INTEGER NOT NULL, bytes INTEGER NOT NULL) STRICT;
  INSERT INTO total VALUES (1, 0, 0);
  CREATE TRIGGER blob_made AFTER INSERT ON blob BEGIN UPDATE total SET bytes = bytes + NEW.bytes; END;
  CREATE TRIGGER blob_grown AFTER UPDATE OF bytes ON blob BEGIN UPDATE total SET bytes = bytes + NEW.bytes - OLD.bytes; END;
  CREATE TRIGGER blob_gone AFTER DELETE ON blob BEGIN UPDATE total SET bytes = bytes - OLD.bytes; END;
  CREATE TRIGGER handle_made AFTER INSERT ON handle BEGIN UPDATE total SET handles = handles + 1; END;
  CREATE TRIGGER handle_gone AFTER DELETE ON handle BEGIN UPDATE total SET handles = handles - 1; END;
  `,
];

const POSTGRES: readonly string[] = [
  `
  CREATE TABLE blob (
    id BIGSERIAL PRIMARY KEY, sha256 BYTEA UNIQUE, bytes BIGINT NOT NULL DEFAULT 0, lines BIGINT, writer TEXT, beat_ms BIGINT NOT NULL DEFAULT 0
  );
  CREATE TABLE chunk (id BIGSERIAL PRIMARY KEY, blob BIGINT NOT NULL, byte BIGINT NOT NULL, newlines BIGINT, data BYTEA NOT NULL);
  ALTER TABLE chunk ALTER COLUMN data SET STORAGE EXTERNAL;
  CREATE UNIQUE INDEX chunk_by_byte ON chunk (blob, byte);
  CREATE INDEX chunk_by_line ON chunk (blob, newlines, byte) WHERE newlines IS NOT NULL;
  CREATE SEQUENCE handle_rank;
  CREATE TABLE handle (
    id TEXT PRIMARY KEY, owner TEXT NOT NULL, kind TEXT NOT NULL, path TEXT, root TEXT, state TEXT NOT NULL, progress TEXT,
    bytes BIGINT NOT NULL DEFAULT 0, blob BIGINT REFERENCES blob (id), file TEXT, lines BIGINT, runner TEXT,
    cancel INTEGER NOT NULL DEFAULT 0, beat_ms BIGINT NOT NULL DEFAULT 0, rank BIGINT NOT NULL UNIQUE,
    created_ms BIGINT NOT NULL, expires_ms BIGINT NOT NULL
  );
  CREATE INDEX handle_by_blob ON handle (blob);
  CREATE INDEX handle_by_expiry ON handle (expires_ms);
  CREATE INDEX handle_running ON handle (runner) WHERE state = 'running';
  CREATE TABLE mark (
    handle TEXT NOT NULL REFERENCES handle (id) ON DELETE CASCADE, newlines BIGINT NOT NULL, byte BIGINT NOT NULL, PRIMARY KEY (handle, newlines, byte)
  );
  CREATE TABLE total (id INTEGER PRIMARY KEY CHECK (id = 1), handles BIGINT NOT NULL, bytes BIGINT NOT NULL);
  INSERT INTO total VALUES (1, 0, 0);
  CREATE FUNCTION blob_counted() RETURNS trigger AS $$ BEGIN
    UPDATE total SET bytes = bytes + coalesce(NEW.bytes, 0) - coalesce(OLD.bytes, 0); RETURN NULL; END $$ LANGUAGE plpgsql;
  CREATE FUNCTION handle_counted() RETURNS trigger AS $$ BEGIN
    UPDATE total SET handles = handles + (CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END); RETURN NULL; END $$ LANGUAGE plpgsql;
  CREATE TRIGGER blob_made AFTER INSERT ON blob FOR EACH ROW WHEN (NEW.bytes <> 0) EXECUTE FUNCTION blob_counted();
  CREATE TRIGGER blob_grown AFTER UPDATE OF bytes ON blob FOR EACH ROW WHEN (NEW.bytes <> OLD.bytes) EXECUTE FUNCTION blob_counted();
  CREATE TRIGGER blob_gone AFTER DELETE ON blob FOR EACH ROW WHEN (OLD.bytes <> 0) EXECUTE FUNCTION blob_counted();
  CREATE TRIGGER handle_counts AFTER INSERT OR DELETE ON handle FOR EACH ROW EXECUTE FUNCTION handle_counted();
  `,
];

export const HANDLES: Schema = { name: "handles", sqlite: SQLITE, postgres: POSTGRES };

export interface HandleRow {
  readonly id: string;
  readonly owner: string;
  readonly kind: string;
  readonly path: string | null;
  readonly root: string | null;
  readonly state: HandleState;
  readonly progress: string | null;
  readonly bytes: number;
  readonly blob: number | null;
  /** The identity of a file kept by reference, as JSON. */
  readonly file: string | null;
  /** Lines of a file kept by reference, once they were counted to the end. */
  readonly lines: number | null;
  readonly runner: string | null;
  readonly beat_ms: number;
  readonly created_ms: number;
  readonly expires_ms: number;
}
