import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Fault } from "../../src/base/fault.ts";
import { connectPostgres } from "../../src/base/store/postgres.ts";
import { TOKEN_AUDIT } from "../../src/engines/telemetry/index.ts";
import { createLimits } from "../../src/transports/http/index.ts";
import { LOCAL } from "../harness/bed.ts";
import { type HttpServer, startHttp } from "../harness/http.ts";
import { type PostgresServer, startPostgres } from "../harness/postgres.ts";
import { type Replicas, startReplicas } from "../harness/replicas.ts";
import { temp } from "../harness/temp.ts";

const LINES = Array.from({ length: 20 }, (_, number) => `line ${number}.\n`).join("");

let server: PostgresServer;
let team: Replicas;
let url: string;
beforeAll(async () => {
  server = await startPostgres();
  url = server.database();
  team = startReplicas(url, { "a.txt": LINES, "big.txt": "0123456789\n".repeat(100_000) });
});
afterAll(async () => {
  await team[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

interface Page {
  readonly content: string;
  readonly handle: string | null;
}

describe("any replica serves any caller", () => {
  it("a handle made on one is read on the other", async () => {
    const made = await team.a.payload<Page>("linux_fs_read", { path: "big.txt", max_lines: 10 });
    expect(made.handle).toMatch(/^res_/);
    const args = { handle: made.handle, offset_lines: 99_990, max_lines: 5 };
    const read = await team.b.payload<Page>("linux_handle_read", args);
    expect(read.content).toBe("0123456789\n".repeat(5));
  });

  it("a job started on one is watched and cancelled from the other", async () => {
    const { handle } = JSON.parse(await team.a.text("run_cmd", { command: "sleep 30" })) as { handle: string };
    const state = async () =>
      (await team.b.payload<{ meta: { state: string } }>("linux_handle_read", { handle, wait_s: 10 })).meta.state;
    const handles = await team.b.app.engines.handles();
    expect((await handles.info(LOCAL, handle)).state).toBe("running");
    expect(await handles.cancel(LOCAL, handle)).toBe(true);
    expect(await state()).toBe("cancelled");
  });

  it("edits of one file through both come one after the other, and none is lost or done twice", async () => {
    const edit = (number: number) => {
      const args = { path: "a.txt", edits: [{ old_text: `line ${number}.`, new_text: `LINE ${number}!` }] };
      return again(() => (number % 2 === 0 ? team.a : team.b).payload("linux_fs_edit", args));
    };
    await Promise.all(Array.from({ length: 20 }, (_, number) => edit(number)));
    const expected = LINES.replaceAll("line", "LINE").replaceAll(".", "!");
    expect(readFileSync(join(team.root, "a.txt"), "utf8")).toBe(expected);
    expect(await team.b.payload("maasl_locks", {})).toEqual({ locks: [] });
  });

  it("a session goes on at whichever replica is asked, one call at a time", async () => {
    const { session_id } = await team.a.payload<{ session_id: string }>("create_session", { language: "javascript" });
    const add = (bed: typeof team.a) =>
      bed.payload<{ result: number }>("execute_code", {
        session_id,
        language: "javascript",
        code: "globalThis.n = (globalThis.n ?? 0) + 1; n",
      });
    expect([(await add(team.a)).result, (await add(team.b)).result, (await add(team.a)).result]).toEqual([1, 2, 3]);
    const seen = await Promise.all([team.a, team.b, team.a, team.b].map(async (bed) => (await add(bed)).result));
    expect(seen.toSorted()).toEqual([4, 5, 6, 7]);
    const { sessions } = await team.b.payload<{ sessions: object[] }>("get_active_sessions", {});
    expect(sessions).toMatchObject([{ session_id, state: "hibernated", execution_count: 7 }]);
    await team.b.payload("destroy_session", { session_id });
    await expect(add(team.a)).rejects.toMatchObject({ code: "session_not_found" });
  });

  it("a run in a session is cancelled from the other replica", async () => {
    const { session_id } = await team.a.payload<{ session_id: string }>("create_session", { language: "javascript" });
    const endless = team.a.call("execute_code", {
      session_id,
      language: "javascript",
      code: "for (;;);",
      timeout_s: 30,
    });
    const isLive = async () =>
      (await team.b.payload<{ sessions: { state: string }[] }>("get_active_sessions")).sessions[0]?.state;
    await expect.poll(isLive, { timeout: 10_000 }).toBe("live");
    expect(await team.b.payload("cancel_execution", { session_id })).toEqual({ cancelled: true });
    const ended = await endless;
    expect(ended.ok ? (ended.payload as { exit_code: number }).exit_code : 1).not.toBe(0);
    await team.b.payload("destroy_session", { session_id });
  }, 60_000);

  it("a session of a replica that was killed is free after its lease, with the state that was acknowledged", async () => {
    using folder = temp();
    const env = { LLMC_MCP_STORE_BACKEND: "postgres", LLMC_STORE_URL: url };
    await using b = await startHttp(folder.path, { env });
    const a = await startHttp(folder.path, { env });
    const run = (on: HttpServer, code: string) =>
      on.post("/tool", {
        name: "execute_code",
        args: { session_id: "killed", language: "javascript", code, timeout_s: 60 },
      });
    try {
      await a.post("/tool", { name: "create_session", args: { language: "javascript", session_id: "killed" } });
      expect((await run(a, "globalThis.n = 41; n + 1")).body).toMatchObject({ result: 42 });
      void run(a, "for (;;);").catch(() => {});
      const isLive = async () =>
        JSON.stringify((await b.post("/tool", { name: "get_active_sessions", args: {} })).body);
      await expect.poll(isLive, { timeout: 10_000 }).toContain('"live"');
    } finally {
      a.signal("SIGKILL");
      await a.exited();
    }
    // Nobody but the lease can say that the other is gone.
    expect((await run(b, "n")).body).toMatchObject({ result: 41 });
  }, 90_000);

  it("a rate limit counts what came through both, and what was too much is paid back", async () => {
    const [one, two] = await Promise.all([connectPostgres({ url }), connectPostgres({ url })]);
    const options = {
      rate_limit_rps: 5,
      rate_limit_burst: 0,
      concurrency_per_token: 1000,
      max_sessions_per_principal: 9,
      max_header_bytes: 9999,
      max_request_bytes: 9999,
    };
    const limits = [one, two].map((postgres) => createLimits(options, postgres.open));
    let passed = 0;
    const ask = async (limit: (typeof limits)[number]) => {
      try {
        (await limit.enter(LOCAL))();
        passed++;
      } catch (error) {
        expect(error).toMatchObject({ code: "rate_limited" });
      }
    };
    const began = Date.now();
    while (Date.now() - began < 4000) {
      await Promise.all(limits.map(ask));
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    const alone = (options.rate_limit_rps * (Date.now() - began)) / 1000;
    // Each replica counting for itself would let 2 x alone through. Both let a first window through before they know of each other.
    expect(passed).toBeLessThan(alone * 1.5 + 2 * options.rate_limit_rps);
    expect(passed).toBeGreaterThanOrEqual(options.rate_limit_rps);
    await Promise.all([one.close(), two.close()]);
  });

  it("what commands cost is counted for all of them together", async () => {
    for (const bed of [team.a, team.b])
      await bed.payload("te_run", { command: "echo hi" }).catch(() => bed.text("run_cmd", { command: "echo hi" }));
    const stats = await (await team.a.app.engines.envelope()).stats(LOCAL);
    expect(stats).toEqual(await (await team.b.app.engines.envelope()).stats(LOCAL));
    expect(stats.total.calls).toBeGreaterThanOrEqual(2);
  });
});

it("the token audit of all of them is one table", async () => {
  for (const bed of [team.a, team.b]) await bed.payload("stat", { path: "a.txt" });
  const table = await team.a.app.shared!.open(TOKEN_AUDIT);
  const rows = async () =>
    (await table.get<{ n: number }>("SELECT count(*) AS n FROM token_audit WHERE tool = 'stat'"))!.n;
  while ((await rows()) < 2) await new Promise((resolve) => setTimeout(resolve, 50));
  expect(await rows()).toBe(2);
});

/** As a client does that is told to come again. */
async function again<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries++)
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Fault) || !error.retryable || tries > 50) throw error;
    }
}
