import type { Schema, SqlValue, Store } from "../../base/store/types.ts";
import type { TokenRow } from "./csv.ts";

export const TOKEN_AUDIT: Schema = {
  name: "token_audit",
  sqlite: [],
  postgres: [
    `CREATE TABLE token_audit (id BIGSERIAL PRIMARY KEY, time TIMESTAMPTZ NOT NULL, correlation_id TEXT NOT NULL, agent_id TEXT NOT NULL,
       session_id TEXT NOT NULL, tool TEXT NOT NULL, tokens_in BIGINT NOT NULL, tokens_out BIGINT NOT NULL, error_code TEXT NOT NULL);
     CREATE INDEX token_audit_by_time ON token_audit (time);`,
  ],
};

const EVERY_MS = 500;
const AT_ONCE = 500;
/** What waits for a store that is away; beyond, the oldest go. */
const MOST_WAITING = 20_000;
const COLUMNS = "time, correlation_id, agent_id, session_id, tool, tokens_in, tokens_out, error_code";

/** The token audit of all replicas in one table. Rows go there a little later, many at a time: no call waits for them. */
export function openTokenTable(openShared: (schema: Schema) => Promise<Store>, retention_days: number) {
  let waiting: TokenRow[] = [];
  let timer: NodeJS.Timeout | undefined;
  let store: Promise<Store> | undefined;

  async function opened(): Promise<Store> {
    const db = await openShared(TOKEN_AUDIT);
    const old = new Date(Date.now() - retention_days * 86_400_000).toISOString();
    if (retention_days > 0) await db.run("DELETE FROM token_audit WHERE time < ?", old);
    return db;
  }

  async function flush(): Promise<void> {
    timer = undefined;
    while (waiting.length > 0) {
      const rows = waiting.slice(0, AT_ONCE);
      try {
        await write(await (store ??= opened()), rows);
        waiting = waiting.slice(rows.length);
      } catch {
        store = undefined;
        waiting = waiting.slice(-MOST_WAITING);
        return later();
      }
    }
  }

  function later(): void {
    timer ??= setTimeout(() => void flush(), EVERY_MS).unref();
  }

  return {
    append(row: TokenRow): void {
      waiting.push(row);
      later();
    },
    async close(): Promise<void> {
      await flush();
      clearTimeout(timer);
    },
  };
}

async function write(db: Store, rows: readonly TokenRow[]): Promise<void> {
  const values: SqlValue[] = rows.flatMap((row) => [
    ...[row.time, row.correlation_id, row.agent_id, row.session_id, row.tool],
    ...[row.tokens_in, row.tokens_out, row.error_code],
  ]);
  const marks = rows.map(() => "(?, ?, ?, ?, ?, ?, ?, ?)").join(", ");
  await db.run(`INSERT INTO token_audit (${COLUMNS}) VALUES ${marks}`, ...values);
}
