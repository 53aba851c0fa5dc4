export type SqlValue = string | number | bigint | null | Uint8Array;
export type SqlRow = Record<string, unknown>;

/** What one statement can do, inside a transaction or on its own. `?` stands for a value, in order. */
export interface Statements {
  run(sql: string, ...values: SqlValue[]): Promise<{ changes: number }>;
  get<T = SqlRow>(sql: string, ...values: SqlValue[]): Promise<T | undefined>;
  all<T = SqlRow>(sql: string, ...values: SqlValue[]): Promise<T[]>;
}

export interface TransactionOptions {
  /** Transactions that name the same number come one after the other. In SQLite all do. */
  readonly serial?: number;
}

/** A store of state. SQLite answers at once; PostgreSQL carries the same for several replicas. */
export interface Store extends Statements {
  readonly backend: "sqlite" | "postgres";
  /** All or nothing. Statements go through what `work` is given; it must not wait for anything but them. */
  transaction<T>(work: (tx: Statements) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /** Large bytes as quickly as the store gives them: the one column of all rows, joined. Nothing when there is none. */
  bytes(sql: string, ...values: SqlValue[]): Promise<Uint8Array>;
  close(): Promise<void>;
}

/** The tables of one part, for each backend: steps from version i to i + 1. Append; never change one that was released. */
export interface Schema {
  /** Its file is `<name>.db`; in PostgreSQL its version stands under this name. Table names differ between parts. */
  readonly name: string;
  readonly sqlite: readonly string[];
  readonly postgres: readonly string[];
}
