import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connectPostgres, type Postgres } from "../../src/base/store/postgres.ts";
import { openSqlite } from "../../src/base/store/sqlite.ts";
import type { Schema, Store } from "../../src/base/store/types.ts";
import { type PostgresServer, startPostgres } from "../harness/postgres.ts";

const TABLE = "CREATE TABLE thing (name TEXT PRIMARY KEY, size BIGINT NOT NULL, data";
const PART: Schema = { name: "things", sqlite: [`${TABLE} BLOB)`], postgres: [`${TABLE} BYTEA)`] };

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
}, 60_000);
afterAll(() => server[Symbol.asyncDispose]());

describe.each(["sqlite", "postgres"] as const)("a store on %s", (backend) => {
  let folder: string;
  let postgres: Postgres | undefined;
  let store: Store;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "llmc-store-"));
    postgres = backend === "postgres" ? await connectPostgres({ url: server.database() }) : undefined;
    store = postgres ? await postgres.open(PART) : openSqlite(join(folder, "things.db"), PART);
  });
  afterAll(async () => {
    await store.close();
    await postgres?.close();
    rmSync(folder, { recursive: true });
  });

  it("keeps text, numbers and bytes as they are", async () => {
    const bytes = Uint8Array.from({ length: 300 }, (_, n) => n % 256);
    const size = 2 ** 50;
    expect(await store.run("INSERT INTO thing VALUES (?, ?, ?)", "größe\n'", size, bytes)).toEqual({ changes: 1 });
    const row = await store.get<{ size: number; data: Uint8Array }>("SELECT * FROM thing WHERE name = ?", "größe\n'");
    expect(row!.size).toBe(size);
    expect(Buffer.from(row!.data)).toEqual(Buffer.from(bytes));
    expect(await store.get("SELECT * FROM thing WHERE name = ?", "none")).toBeUndefined();
  });

  it("does all of a transaction or nothing, and lets none of another's in", async () => {
    const failing = store.transaction(async (tx) => {
      await tx.run("INSERT INTO thing VALUES (?, 1, NULL)", "half");
      throw new Error("stop");
    });
    await expect(failing).rejects.toThrow("stop");
    expect(await store.get("SELECT 1 FROM thing WHERE name = ?", "half")).toBeUndefined();
    await store.run("INSERT INTO thing VALUES (?, 0, NULL)", "count");
    await Promise.all(
      Array.from({ length: 20 }, () =>
        store.transaction(async (tx) => {
          const lock = backend === "postgres" ? " FOR UPDATE" : "";
          const row = await tx.get<{ size: number }>(`SELECT size FROM thing WHERE name = ?${lock}`, "count");
          await tx.run("UPDATE thing SET size = ? WHERE name = ?", row!.size + 1, "count");
        }),
      ),
    );
    expect(await store.get("SELECT size FROM thing WHERE name = ?", "count")).toEqual({ size: 20 });
  });

  it("gives large bytes joined, by whatever name they are asked for", async () => {
    const name = `O'Neil \\' ?); DROP TABLE thing; -- größe`;
    const bytes = Buffer.from(Uint8Array.from({ length: 3_000_001 }, (_, n) => (n * 7919) >> 5));
    await store.run("INSERT INTO thing VALUES (?, 1, ?)", name, bytes);
    await store.run("INSERT INTO thing VALUES (?, 2, ?)", `${name}2`, bytes.subarray(0, 5));
    const ask = "SELECT data FROM thing WHERE name = ? OR (name = ? AND size = ?) ORDER BY size";
    const given = Buffer.from(await store.bytes(ask, name, `${name}2`, 2));
    expect(given.equals(Buffer.concat([bytes, bytes.subarray(0, 5)]))).toBe(true);
    expect((await store.bytes("SELECT data FROM thing WHERE name = ?", "nobody")).length).toBe(0);
    await expect(store.bytes("SELECT data FROM nothing")).rejects.toMatchObject({ code: "store_unavailable" });
    expect((await store.bytes("SELECT data FROM thing WHERE name = ?", `${name}2`)).length).toBe(5);
  });

  it("says that it cannot be used, and not with what address or password", async () => {
    await expect(store.run("INSERT INTO nothing VALUES (1)")).rejects.toMatchObject({ code: "store_unavailable" });
  });
});

describe("a shared store", () => {
  it("is migrated once however many come, and refused when it is newer", async () => {
    const url = server.database();
    const many = await Promise.all(Array.from({ length: 5 }, () => connectPostgres({ url, max_connections: 1 })));
    try {
      await Promise.all(many.map((each) => each.open(PART)));
      const older: Schema = { ...PART, postgres: [] };
      await expect(many[0]!.open(older)).rejects.toMatchObject({ code: "store_unavailable", retryable: false });
      const newer: Schema = { ...PART, postgres: [...PART.postgres, "ALTER TABLE thing ADD COLUMN more TEXT"] };
      const store = await many[1]!.open(newer);
      expect(await store.all("SELECT more FROM thing")).toEqual([]);
    } finally {
      await Promise.all(many.map((each) => each.close()));
    }
  });

  it("that went away is a fault that says to come back, and works again when it does", async () => {
    await using own = await startPostgres();
    const postgres = await connectPostgres({ url: own.url, connect_ms: 500 });
    const store = await postgres.open(PART);
    await own.stop();
    await expect(store.all("SELECT * FROM thing")).rejects.toMatchObject({
      code: "store_unavailable",
      retryable: true,
      message: expect.not.stringContaining("postgres://"),
    });
    await own.start();
    expect(await store.all("SELECT * FROM thing")).toEqual([]);
    await postgres.close();
  }, 60_000);
});
