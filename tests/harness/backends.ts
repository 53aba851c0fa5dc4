import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe } from "vitest";
import { connectPostgres } from "../../src/base/store/postgres.ts";
import { openSqlite } from "../../src/base/store/sqlite.ts";
import type { Schema, Store } from "../../src/base/store/types.ts";
import { type PostgresServer, startPostgres } from "./postgres.ts";

/** A store that nothing is in yet, as engines are given it. */
export interface FreshStore extends AsyncDisposable {
  readonly state_dir: string;
  /** Undefined where the state folder is the store. */
  readonly openShared: ((schema: Schema) => Promise<Store>) | undefined;
  open(schema: Schema): Promise<Store>;
}

/** One suite, run on SQLite and on a PostgreSQL that lives as long as it. */
export function onBothBackends(about: string, suite: (fresh: () => Promise<FreshStore>) => void): void {
  describe(`${about} on SQLite`, () => suite(() => freshStore(undefined)));
  describe(`${about} on PostgreSQL`, () => {
    let server: PostgresServer | undefined;
    beforeAll(async () => {
      server = await startPostgres();
    });
    afterAll(() => server?.[Symbol.asyncDispose]());
    suite(() => freshStore(server!.database()));
  });
}

async function freshStore(url: string | undefined): Promise<FreshStore> {
  const state_dir = mkdtempSync(join(tmpdir(), "llmc-store-"));
  const postgres = url === undefined ? undefined : await connectPostgres({ url, max_connections: 4 });
  const openShared = postgres && ((schema: Schema) => postgres.open(schema));
  return {
    state_dir,
    openShared,
    open: async (schema) =>
      openShared ? openShared(schema) : openSqlite(join(state_dir, `${schema.name}.db`), schema),
    async [Symbol.asyncDispose]() {
      await postgres?.close();
      rmSync(state_dir, { recursive: true, force: true });
    },
  };
}
