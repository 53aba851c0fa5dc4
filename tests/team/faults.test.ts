import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { stable, TABLE } from "../e2e/table.ts";
import { createBed } from "../harness/bed.ts";
import { runBinary } from "../harness/cli.ts";
import { REVISIONS } from "../harness/client.ts";
import { startHttp } from "../harness/http.ts";
import { type PostgresServer, startPostgres } from "../harness/postgres.ts";
import { startReplicas } from "../harness/replicas.ts";
import { temp } from "../harness/temp.ts";

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server[Symbol.asyncDispose]());

const ON = "[mcp]\nmode = 'classic'\n[mcp.store]\nbackend = 'postgres'\n";

describe("a store that is away", () => {
  it("at start is a clear error, and waited for where that was configured", async () => {
    using folder = temp();
    writeFileSync(join(folder.path, "llmc.toml"), ON);
    const url = server.database();
    const unset = await runBinary(["serve"], { cwd: folder.path });
    expect([unset.code === 0, unset.stderr]).toEqual([false, expect.stringContaining("LLMC_STORE_URL is not set")]);
    await server.stop();
    const env = { LLMC_STORE_URL: url };
    const away = await runBinary(["serve"], { cwd: folder.path, env });
    expect([away.code === 0, away.stderr]).toEqual([false, expect.stringContaining("shared store cannot be used")]);
    expect(away.stderr).not.toContain(url);
    const starting = startHttp(folder.path, { env: { ...env, LLMC_MCP_STORE_CONNECT_RETRY_S: "60" } });
    await setTimeout(300);
    await server.start();
    await using replica = await starting;
    expect((await replica.post("/tool", { name: "linux_fs_write", args: { path: "x", content: "y" } })).status).toBe(
      200,
    );
  });

  it("in the middle leaves reading as it is, refuses the rest with 503, and is found again by itself", async () => {
    using folder = temp();
    writeFileSync(join(folder.path, "llmc.toml"), ON);
    writeFileSync(join(folder.path, "a.txt"), "one\n");
    await using replica = await startHttp(folder.path, { env: { LLMC_STORE_URL: server.database() } });
    const call = (name: string, args: object) => replica.post("/tool", { name, args });
    const write = () => call("linux_fs_write", { path: "b.txt", content: "two\n" });
    const code = { name: "execute_code", args: { language: "javascript", code: "1 + 1" } } as const;
    expect((await write()).status).toBe(200);
    await server.stop();
    for (const [name, args] of [
      ["stat", { path: "a.txt" }],
      ["read_file", { path: "a.txt" }],
      ["linux_search_content", { root: ".", pattern: "one" }],
    ] as const)
      expect([name, (await call(name, args)).status]).toEqual([name, 200]);
    const refused = await write();
    expect([refused.status, refused.body["code"], refused.headers.get("retry-after")]).toEqual([
      503,
      "UNAVAILABLE",
      expect.any(String),
    ]);
    expect((await call(code.name, code.args)).status).toBe(503);
    await server.start();
    expect((await write()).status).toBe(200);
    expect((await call(code.name, code.args)).status).toBe(200);
  });
});

describe("a client of any revision", () => {
  it("is served by replicas in turn, with nothing sticky between them", async () => {
    using folder = temp();
    using states = temp();
    writeFileSync(join(folder.path, "llmc.toml"), ON);
    const url = server.database();
    const start = (name: string) =>
      startHttp(folder.path, { env: { LLMC_STORE_URL: url, LLMC_STATE_DIR: join(states.path, name) } });
    await using a = await start("a");
    await using b = await start("b");
    for (const revision of REVISIONS) {
      let turn = 0;
      const inTurn: typeof fetch = (target, init) => {
        const { pathname } = new URL(String(target));
        return fetch(new URL(pathname, [a.url, b.url][turn++ % 2]), init);
      };
      const client = await a.connect(revision, inTurn);
      for (let call = 0; call < 4; call++) {
        const result = await client.callTool({ name: "stat", arguments: { path: "llmc.toml" } });
        expect([revision, call, result.isError === true]).toEqual([revision, call, false]);
      }
      await client.close();
    }
  });
});

describe("the table of calls", () => {
  it("gives equal answers on both backends", async () => {
    const files = { "a.txt": "one\ntwo\nthree\n" };
    const answers = async (config: string, env: Record<string, string>) => {
      await using bed = createBed({ config, files, env });
      mkdirSync(join(bed.root, "sub"));
      const seen: string[] = [];
      for (const [name, args] of TABLE) seen.push(stable(await bed.text(name, args)).replaceAll(bed.root, "ROOT"));
      return seen;
    };
    const sqlite = await answers(ON.replace("postgres", "sqlite"), {});
    expect(await answers(ON, { LLMC_STORE_URL: server.database() })).toEqual(sqlite);
  });
});

describe("llmc store and doctor", () => {
  it("migrate once, check what is there, and say what is newer", async () => {
    using folder = temp();
    writeFileSync(join(folder.path, "llmc.toml"), ON);
    const env = { LLMC_STORE_URL: server.database() };
    const llmc = (...args: string[]) => runBinary(args, { cwd: folder.path, env });
    expect((await llmc("store", "check")).stdout).toMatch(/^handles +schema 0 of \d+: llmc store migrate/m);
    expect((await llmc("store", "migrate")).stdout).toMatch(/^Migrated: handles, locks, sandbox, /);
    expect((await llmc("store", "migrate")).stdout).toBe("Nothing to migrate.\n");
    expect((await llmc("store", "check")).code).toBe(0);
    expect((await llmc("doctor")).stdout).toMatch(/^✓ store +PostgreSQL answers/m);
    await using team = startReplicas(env.LLMC_STORE_URL);
    await (await team.a.app.shared!.open({ name: "locks", sqlite: [], postgres: Array(9).fill("SELECT 1") })).close();
    const newer = await llmc("store", "check");
    expect([newer.code, newer.stdout]).toEqual([1, expect.stringContaining("newer than this llmc")]);
    await expect(team.b.payload("linux_fs_write", { path: "x", content: "" })).rejects.toMatchObject({
      code: "store_unavailable",
      retryable: false,
    });
    const none = await runBinary(["store", "check"], { cwd: folder.path, env: { LLMC_MCP_STORE_BACKEND: "sqlite" } });
    expect([none.code === 0, none.stderr]).toEqual([false, expect.stringContaining("no shared store")]);
  });
});
