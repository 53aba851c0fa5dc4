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
     );
     -- One lease where nothing stands in the way, in one round trip. Each statement in here sees what others committed before it.
     CREATE FUNCTION lease_taken(serial BIGINT, wanted TEXT, wanted_class TEXT, wanted_tree INTEGER, by_holder TEXT, by_pid BIGINT,
       by_started TEXT, by_place TEXT, now_ms BIGINT, until_ms BIGINT) RETURNS BIGINT LANGUAGE plpgsql AS $$
     DECLARE made BIGINT;
     BEGIN
       PERFORM pg_advisory_xact_lock(serial);
       IF EXISTS (SELECT 1 FROM leases l WHERE l.resource = wanted
         OR (l.tree = 1 AND substr(wanted, 1, length(l.resource) + 1) = l.resource || '/')
         OR (wanted_tree = 1 AND substr(l.resource, 1, length(wanted) + 1) = wanted || '/')) THEN RETURN NULL; END IF;
       INSERT INTO leases (resource, class, tree, holder, pid, started, place, since_ms, expires_ms)
         VALUES (wanted, wanted_class, wanted_tree, by_holder, by_pid, by_started, by_place, now_ms, until_ms) RETURNING fence INTO made;
       RETURN made;
     END $$;`,
  ],
};
