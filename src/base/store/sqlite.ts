import { setTimeout as sleep } from "node:timers/promises";
import { openDb } from "../db.ts";
import { Fault } from "../fault.ts";
import type { Schema, SqlValue, Statements, Store } from "./types.ts";

const PATIENCE_MS = 5000;

function isBusy(error: unknown): boolean {
  return error instanceof Fault && /locked|busy/.test(error.message);
}

interface SqliteOptions {
  readonly busy_ms?: number;
  readonly synchronous?: "normal" | "full";
}

/** SQLite behind the asynchronous seam. There is one connection, so a transaction keeps the statements of others waiting. */
export function openSqlite(file: string, schema: Schema, options: SqliteOptions = {}): Store {
  const db = openDb(file, { migrations: schema.sqlite, ...options });
  // From here on nobody waits inside SQLite: the whole process would, also the one that holds the lock in another connection of it.
  db.exec("PRAGMA busy_timeout = 0");
  const patience_ms = options.busy_ms ?? PATIENCE_MS;

  /** Done at once, or as soon as another process is done with the store. */
  async function patient<T>(work: () => T): Promise<T> {
    try {
      return work();
    } catch (error) {
      if (!isBusy(error)) throw error;
    }
    for (const until = Date.now() + patience_ms; ; ) {
      await sleep(1 + Math.random() * 4);
      try {
        return work();
      } catch (error) {
        if (!isBusy(error) || Date.now() > until) throw error;
      }
    }
  }

  /** Transactions that run or wait, and the end of the last of them. */
  let waiting = 0;
  let tail: Promise<unknown> = Promise.resolve();

  const now: Statements = {
    run: (sql, ...values) => patient(() => db.run(sql, ...values)),
    get: <T>(sql: string, ...values: SqlValue[]) => patient(() => db.get<T>(sql, ...values)),
    all: <T>(sql: string, ...values: SqlValue[]) => patient(() => db.all<T>(sql, ...values)),
  };

  /** Without a transaction in the way a statement is done before the call returns. */
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => (waiting === 0 ? work() : tail.then(work));

  return {
    backend: "sqlite",
    run: (sql, ...values) => inTurn(() => now.run(sql, ...values)),
    get: (sql, ...values) => inTurn(() => now.get(sql, ...values)),
    all: (sql, ...values) => inTurn(() => now.all(sql, ...values)),
    async bytes(sql, ...values) {
      const rows = await inTurn(() => now.all<Record<string, Uint8Array>>(sql, ...values));
      const parts = rows.map((row) => Object.values(row)[0]!);
      return parts.length === 1 ? parts[0]! : Buffer.concat(parts);
    },
    async transaction(work) {
      waiting++;
      const mine = tail.then(() => inTransaction(work));
      tail = mine.catch(() => {});
      try {
        return await mine;
      } finally {
        waiting--;
      }
    },
    async close() {
      await tail;
      db.close();
    },
  } as Store;

  async function inTransaction<T>(work: (tx: Statements) => Promise<T>): Promise<T> {
    await patient(() => db.run("BEGIN IMMEDIATE"));
    try {
      const value = await work(now);
      db.run("COMMIT");
      return value;
    } catch (error) {
      db.run("ROLLBACK");
      throw error;
    }
  }
}
