import { openDb } from "../db.ts";
import type { Schema, SqlValue, Statements, Store } from "./types.ts";

interface SqliteOptions {
  readonly busy_ms?: number;
  readonly synchronous?: "normal" | "full";
}

/** SQLite behind the asynchronous seam. There is one connection, so a transaction keeps the statements of others waiting. */
export function openSqlite(file: string, schema: Schema, options: SqliteOptions = {}): Store {
  const db = openDb(file, { migrations: schema.sqlite, ...options });
  /** Transactions that run or wait, and the end of the last of them. */
  let waiting = 0;
  let tail: Promise<unknown> = Promise.resolve();

  const now: Statements = {
    run: async (sql, ...values) => db.run(sql, ...values),
    get: async <T>(sql: string, ...values: SqlValue[]) => db.get<T>(sql, ...values),
    all: async <T>(sql: string, ...values: SqlValue[]) => db.all<T>(sql, ...values),
  };

  /** Without a transaction in the way a statement is done before the call returns. */
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => (waiting === 0 ? work() : tail.then(work));

  return {
    backend: "sqlite",
    run: (sql, ...values) => inTurn(() => now.run(sql, ...values)),
    get: (sql, ...values) => inTurn(() => now.get(sql, ...values)),
    all: (sql, ...values) => inTurn(() => now.all(sql, ...values)),
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
    db.run("BEGIN IMMEDIATE");
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
