import { join } from "node:path";
import { type Db, openDb } from "../../base/db.ts";

/** Locks and journal share one file, so that a lock, a rename and its journal entry end in one transaction. */
export function openStore(state_dir: string): Db {
  return openDb(storeFile(state_dir), { migrations: MIGRATIONS });
}

export function storeFile(state_dir: string): string {
  return join(state_dir, "locks.db");
}

const MIGRATIONS = [
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
];
