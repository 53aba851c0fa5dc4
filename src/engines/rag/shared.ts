import { deflateRawSync, inflateRawSync } from "node:zlib";
import { type Db, openDb } from "../../base/db.ts";
import { PER_FILE } from "./schema.ts";
import type { Prepared } from "./store.ts";

/** What working trees of one repository give each other: files as they were prepared, and vectors, by the hash of what they are of. */
export interface Shared {
  find(path: string, hash: string): Prepared | undefined;
  keep(files: readonly Prepared[]): void;
  vector(maker: string, hash: string): Uint8Array | undefined;
  keepVectors(maker: string, vectors: readonly { readonly hash: string; readonly vector: Float32Array }[]): void;
  close(): void;
}

/** Raise it when chunks, terms or facts of the same text come out otherwise. */
const VERSION = 1;
const MAX_FILES = 200_000;
const MAX_VECTORS = 500_000;
const FAST = { level: 1 };

const MIGRATIONS = [
  `CREATE TABLE prepared (version INTEGER NOT NULL, path TEXT NOT NULL, hash TEXT NOT NULL, file BLOB NOT NULL, UNIQUE (hash, path, version));
   CREATE TABLE vectors (maker TEXT NOT NULL, hash TEXT NOT NULL, vector BLOB NOT NULL, UNIQUE (hash, maker));`,
];

export function openShared(file: string): Shared {
  const db = openDb(file, { migrations: MIGRATIONS, busy_ms: 10_000 });
  return {
    find(path, hash) {
      const row = db.get<{ file: Uint8Array }>(
        "SELECT file FROM prepared WHERE hash = ? AND path = ? AND version = ?",
        ...[hash, path, VERSION],
      );
      return row && readable(row.file, path, hash);
    },
    keep(files) {
      if (files.length === 0) return;
      db.transaction(() => {
        for (const one of files)
          db.run(
            "INSERT OR REPLACE INTO prepared (version, path, hash, file) VALUES (?, ?, ?, ?)",
            ...[VERSION, one.path, one.hash, deflateRawSync(JSON.stringify(one), FAST)],
          );
        trim(db, "prepared", MAX_FILES);
      });
    },
    vector: (maker, hash) =>
      db.get<{ vector: Uint8Array }>("SELECT vector FROM vectors WHERE hash = ? AND maker = ?", hash, maker)?.vector,
    keepVectors(maker, vectors) {
      db.transaction(() => {
        for (const { hash, vector } of vectors)
          db.run(
            "INSERT OR REPLACE INTO vectors (maker, hash, vector) VALUES (?, ?, ?)",
            ...[maker, hash, new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength)],
          );
        trim(db, "vectors", MAX_VECTORS);
      });
    },
    close: () => db.close(),
  };
}

/** The oldest go first. */
function trim(db: Db, table: "prepared" | "vectors", most: number): void {
  db.run(`DELETE FROM ${table} WHERE rowid <= (SELECT max(rowid) FROM ${table}) - ?`, most);
}

/** What does not look as it was written is as good as not there. */
function readable(bytes: Uint8Array, path: string, hash: string): Prepared | undefined {
  try {
    const file = JSON.parse(inflateRawSync(bytes, { maxOutputLength: 256 * 1024 ** 2 }).toString("utf8")) as Prepared;
    const { chunks } = file.chunked;
    const isWhole = file.path === path && file.hash === hash && chunks.length === file.rows.length;
    let at = 0;
    for (const { start, end } of chunks) {
      if (start !== at || end < start) return undefined;
      at = end;
    }
    return isWhole && chunks.length < PER_FILE ? file : undefined;
  } catch {
    return undefined;
  }
}
