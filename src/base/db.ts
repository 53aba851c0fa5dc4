import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import { Fault } from "./fault.ts";

type Row = Record<string, unknown>;

export interface Db {
  run(sql: string, ...values: SQLInputValue[]): { changes: number };
  get<T = Row>(sql: string, ...values: SQLInputValue[]): T | undefined;
  all<T = Row>(sql: string, ...values: SQLInputValue[]): T[];
  iterate<T = Row>(sql: string, ...values: SQLInputValue[]): IterableIterator<T>;
  exec(sql: string): void;
  /** All or nothing, as one writer (BEGIN IMMEDIATE). Not for nesting. */
  transaction<T>(work: () => T): T;
  close(): void;
}

interface DbOptions {
  /** Statements that bring the schema from version i to i + 1. Append; never change one that was released. */
  readonly migrations: readonly string[];
  /** How long a writer waits for another process. */
  readonly busy_ms?: number;
  /** `normal` survives a killed process; `full` survives a power cut as well. */
  readonly synchronous?: "normal" | "full";
}

/** Opens (or makes) one SQLite file in WAL mode, shared by all processes on the repository. Prepared statements are kept. */
export function openDb(file: string, options: DbOptions): Db {
  try {
    if (file !== ":memory:") mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    return adapt(connect(file, options));
  } catch (error) {
    if (error instanceof Fault) throw error;
    throw unavailable(error);
  }
}

function connect(file: string, options: DbOptions): DatabaseSync {
  // Loaded here and not at the top: a start that touches no store does not pay for SQLite.
  const sqlite = process.getBuiltinModule("node:sqlite");
  const db = new sqlite.DatabaseSync(file, { timeout: options.busy_ms ?? 5000 });
  try {
    db.exec(
      `PRAGMA journal_mode = WAL; PRAGMA synchronous = ${options.synchronous ?? "normal"}; PRAGMA foreign_keys = ON`,
    );
    migrate(db, options.migrations);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

function migrate(db: DatabaseSync, migrations: readonly string[]): void {
  const version = () => (db.prepare("PRAGMA user_version").get() as { user_version: number }).user_version;
  if (version() === migrations.length) return;
  db.exec("BEGIN IMMEDIATE");
  try {
    const from = version();
    if (from > migrations.length)
      throw new Fault(
        "store_unavailable",
        `The store has schema ${from}, newer than this llmc knows (${migrations.length}).`,
        {
          hint: "Use the newer llmc, or move the state folder away.",
          retryable: false,
        },
      );
    for (const step of migrations.slice(from)) db.exec(step);
    db.exec(`PRAGMA user_version = ${migrations.length}`);
    db.exec("COMMIT");
  } catch (error) {
    db.exec("ROLLBACK");
    throw error;
  }
}

function adapt(db: DatabaseSync): Db {
  const statements = new Map<string, ReturnType<DatabaseSync["prepare"]>>();
  const prepared = (sql: string) => {
    let statement = statements.get(sql);
    if (!statement) statements.set(sql, (statement = db.prepare(sql)));
    return statement;
  };
  const guarded = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      throw isSqlite(error) ? unavailable(error) : error;
    }
  };
  return {
    run: (sql, ...values) => guarded(() => ({ changes: Number(prepared(sql).run(...values).changes) })),
    get: <T>(sql: string, ...values: SQLInputValue[]) => guarded(() => prepared(sql).get(...values) as T | undefined),
    all: <T>(sql: string, ...values: SQLInputValue[]) => guarded(() => prepared(sql).all(...values) as T[]),
    iterate: <T>(sql: string, ...values: SQLInputValue[]) =>
      guarded(() => db.prepare(sql).iterate(...values) as IterableIterator<T>),
    exec: (sql) => guarded(() => db.exec(sql)),
    transaction: (work) => {
      guarded(() => prepared("BEGIN IMMEDIATE").run());
      try {
        const value = work();
        guarded(() => prepared("COMMIT").run());
        return value;
      } catch (error) {
        if (db.isTransaction) prepared("ROLLBACK").run();
        throw error;
      }
    },
    close: () => db.close(),
  };
}

function isSqlite(error: unknown): boolean {
  return (error as { code?: string } | null)?.code === "ERR_SQLITE_ERROR";
}

function unavailable(cause: unknown): Fault {
  const text = cause instanceof Error ? cause.message : String(cause);
  const busy = /locked|busy/i.test(text);
  return new Fault("store_unavailable", `The state store cannot be used: ${text}.`, {
    cause,
    hint: busy
      ? "Another process holds it; try again."
      : "Check the state folder (mcp.state_dir): disk space, permissions, or move it away.",
  });
}
