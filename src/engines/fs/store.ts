import { join } from "node:path";
import type { Schema } from "../../base/store/types.ts";

export function storeFile(state_dir: string): string {
  return join(state_dir, `${LOCKS.name}.db`);
}

/** Locks and journal share one store, so that a lock, a rename and its journal entry end in one transaction. */
export const LOCKS: Schema = {
  name: "locks",
  sqlite: [
    `CREATE TABLE leases (
       fence INTEGER PRIMARY KEY AUTOINCREMENT,
       resource TEXT NOT NULL UNIQUE,
       class TEXT NOT NULL,
       tree INTEGER NOT NULL,
       holder TEXT NOT NULL,
       pid INTEGER NOT NULL,
       started TEXT NOT NULL,
       place TEXT NOT NULL,
       since_ms INTEGER NOT NULL,
       expires_ms INTEGER NOT NULL
     );
     CREATE TABLE journal (
       id INTEGER PRIMARY KEY AUTOINCREMENT,
       state TEXT NOT NULL,
       deeds TEXT NOT NULL,
       bytes BLOB,
       pid INTEGER NOT NULL,
       started TEXT NOT NULL,
       place TEXT NOT NULL,
       at_ms INTEGER NOT NULL
     );`,
    "ALTER TABLE journal ADD COLUMN fences TEXT NOT NULL DEFAULT '[]';",
  ],
  postgres: [
    `CREATE TABLE leases (
       fence BIGSERIAL PRIMARY KEY, resource TEXT NOT NULL UNIQUE, class TEXT NOT NULL, tree INTEGER NOT NULL, holder TEXT NOT NULL,
       pid BIGINT NOT NULL, started TEXT NOT NULL, place TEXT NOT NULL, since_ms BIGINT NOT NULL, expires_ms BIGINT NOT NULL
     );
     CREATE TABLE journal (
       id BIGSERIAL PRIMARY KEY, state TEXT NOT NULL, deeds TEXT NOT NULL, bytes BYTEA,
       pid BIGINT NOT NULL, started TEXT NOT NULL, place TEXT NOT NULL, at_ms BIGINT NOT NULL, fences TEXT NOT NULL DEFAULT '[]'
     );`,
  ],
};
