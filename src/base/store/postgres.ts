import type { Pool, PoolClient, QueryResult } from "pg";
import { Fault } from "../fault.ts";
import { copyBytes } from "./postgres-bytes.ts";
import type { Schema, SqlValue, Statements, Store, TransactionOptions } from "./types.ts";

export interface PostgresOptions {
  readonly url: string;
  /** Connections of this process at most. */
  readonly max_connections?: number;
  /** How long a statement waits for a connection. */
  readonly connect_ms?: number;
}

/** One pool for all parts of a process. */
export interface Postgres {
  open(schema: Schema): Promise<Store>;
  ping(): Promise<void>;
  /** The schema versions that are there, part by part. */
  versions(): Promise<ReadonlyMap<string, number>>;
  close(): Promise<void>;
}

const SCHEMA = "llmc";
const STATEMENT_MS = 15_000;
/** Any number will do, as long as every llmc takes the same. */
const MIGRATION_LOCK = 7_716_001;

/** Loads the driver on first use: a server on SQLite never does. */
export async function connectPostgres(options: PostgresOptions): Promise<Postgres> {
  const pg = (await import("pg")).default;
  // Counts and times are numbers here: all of them are far below 2^53.
  pg.types.setTypeParser(pg.types.builtins.INT8, Number);
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.max_connections ?? 8,
    connectionTimeoutMillis: options.connect_ms ?? 3000,
    idleTimeoutMillis: 30_000,
    statement_timeout: STATEMENT_MS,
    // A machine that went silent in the middle of a transaction must not keep its rows for ever.
    idle_in_transaction_session_timeout: STATEMENT_MS,
    application_name: "llmc",
    // One schema of ours in whatever database we are given.
    options: `-c search_path=${SCHEMA}`,
    allowExitOnIdle: true,
  });
  // A connection that breaks while nobody uses it: the next statement gets another, or says why not.
  pool.on("error", () => {});
  // And while someone does: the statement under way says so; without this the process would end.
  pool.on("connect", (client) => client.on("error", () => {}));
  const named = createNames();
  return {
    async open(schema) {
      await migrate(pool, schema);
      return storeOn(pool, named);
    },
    ping: async () => void (await guarded(() => pool.query("SELECT 1"))),
    async versions() {
      const known = await guarded(() => pool.query("SELECT to_regclass($1) AS name", [`${SCHEMA}.schema_version`]));
      if (known.rows[0].name === null) return new Map();
      const { rows } = await guarded(() => pool.query("SELECT part, version FROM schema_version"));
      return new Map((rows as { part: string; version: number }[]).map(({ part, version }) => [part, version]));
    },
    close: () => pool.end(),
  };
}

/** Two that meet in the same row: the one that lost begins again. */
const COLLISIONS = new Set(["23505", "40001", "40P01"]);
const TRIES = 5;

function storeOn(pool: Pool, named: ReturnType<typeof createNames>): Store {
  async function transaction<T>(work: (tx: Statements) => Promise<T>, { serial }: TransactionOptions = {}): Promise<T> {
    const begin = serial === undefined ? "BEGIN" : `BEGIN; SELECT pg_advisory_xact_lock(${serial})`;
    for (let tries = 1; ; tries++)
      try {
        return await attempt(begin, work);
      } catch (error) {
        if (tries === TRIES || !(error instanceof Fault) || !COLLISIONS.has(sqlState(error))) throw error;
      }
  }

  async function attempt<T>(begin: string, work: (tx: Statements) => Promise<T>): Promise<T> {
    const client = await guarded(() => pool.connect());
    let broken: Error | undefined;
    try {
      await guarded(() => client.query(begin));
      const value = await work(statementsOn(client, named));
      await guarded(() => client.query("COMMIT"));
      return value;
    } catch (error) {
      await client.query("ROLLBACK").catch((cause: Error) => (broken = cause));
      throw error;
    } finally {
      client.release(broken);
    }
  }

  async function bytes(sql: string, ...values: SqlValue[]): Promise<Uint8Array> {
    const client = await guarded(() => pool.connect());
    let broken: Error | undefined;
    try {
      return await guarded(() => copyBytes(client, sql, values));
    } catch (error) {
      await client.query("SELECT 1").catch((cause: Error) => (broken = cause));
      throw error;
    } finally {
      client.release(broken);
    }
  }
  return { backend: "postgres", ...statementsOn(pool, named), transaction, bytes, close: async () => {} };
}

/** Statements longer than this are made up for one occasion and not worth a name. */
const NAMED_LENGTH = 1000;

/** A statement with a name is parsed and planned once in a connection. */
function createNames(): (sql: string) => { text: string; name?: string } {
  const known = new Map<string, { text: string; name?: string }>();
  return (sql) => {
    let one = known.get(sql);
    if (one) return one;
    const text = numbered(sql);
    if (sql.length > NAMED_LENGTH) return { text };
    one = { text, name: `llmc_${known.size}` };
    known.set(sql, one);
    return one;
  };
}

function statementsOn(on: Pool | PoolClient, named: ReturnType<typeof createNames>): Statements {
  const query = (sql: string, values: SqlValue[]): Promise<QueryResult> =>
    guarded(() => on.query({ ...named(sql), values: values.map(asParameter) }));
  return {
    run: async (sql, ...values) => ({ changes: (await query(sql, values)).rowCount ?? 0 }),
    get: async <T>(sql: string, ...values: SqlValue[]) => (await query(sql, values)).rows[0] as T | undefined,
    all: async <T>(sql: string, ...values: SqlValue[]) => (await query(sql, values)).rows as T[],
  };
}

function asParameter(value: SqlValue): unknown {
  return value instanceof Uint8Array ? Buffer.from(value.buffer, value.byteOffset, value.byteLength) : value;
}

/** `?` becomes `$1`, `$2` …; our statements hold no question mark of their own. */
function numbered(sql: string): string {
  let count = 0;
  return sql.replace(/\?/g, () => `$${++count}`);
}

/** Once, by whoever comes first; forward only; a schema that is newer than we are is not touched. */
async function migrate(pool: Pool, schema: Schema): Promise<void> {
  const client = await guarded(() => pool.connect());
  const ask = (sql: string, ...values: unknown[]) => guarded(() => client.query(sql, values));
  let broken: Error | undefined;
  try {
    await ask("BEGIN");
    await ask("SELECT pg_advisory_xact_lock($1)", MIGRATION_LOCK);
    await ask(`CREATE SCHEMA IF NOT EXISTS ${SCHEMA}`);
    await ask("CREATE TABLE IF NOT EXISTS schema_version (part TEXT PRIMARY KEY, version INTEGER NOT NULL)");
    const { rows } = await ask("SELECT version FROM schema_version WHERE part = $1", schema.name);
    const from = (rows[0] as { version: number } | undefined)?.version ?? 0;
    const known = schema.postgres.length;
    if (from > known) throw newer(schema.name, from, known);
    for (const step of schema.postgres.slice(from)) await guarded(() => client.query(step));
    if (from < known)
      await ask(
        "INSERT INTO schema_version VALUES ($1, $2) ON CONFLICT (part) DO UPDATE SET version = excluded.version",
        schema.name,
        known,
      );
    await ask("COMMIT");
  } catch (error) {
    await client.query("ROLLBACK").catch((cause: Error) => (broken = cause));
    throw error;
  } finally {
    client.release(broken);
  }
}

function newer(part: string, there: number, known: number): Fault {
  return new Fault(
    "store_unavailable",
    `The store has schema ${there} for ${part}, newer than this llmc knows (${known}).`,
    {
      hint: "Use the newer llmc on every replica.",
      retryable: false,
    },
  );
}

function sqlState({ cause }: Fault): string {
  return (cause as { code?: string } | undefined)?.code ?? "";
}

/** What the driver throws, as one fault; the address and the password stay out of it. */
async function guarded<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Fault) throw error;
    const { code, message } = error as { code?: string; message?: string };
    const why =
      code !== undefined && /^[0-9A-Z]{5}$/.test(code) ? `PostgreSQL says ${code}` : (code ?? "no connection");
    throw new Fault("store_unavailable", `The shared store cannot be used: ${why}.`, {
      cause: Object.assign(new Error(message ?? String(error)), { code }),
      hint: "It is tried again with the next call. Look at PostgreSQL and at the variable that mcp.store.url_env names.",
      retry_after_s: 2,
    });
  }
}
