import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runBinary } from "../harness/cli.ts";
import { connect, REVISIONS } from "../harness/client.ts";
import { startHttp, TOKEN } from "../harness/http.ts";
import { type Temp, temp } from "../harness/temp.ts";
import { stable, TABLE } from "./table.ts";

let folder: Temp;
beforeEach(() => {
  folder = temp();
  writeFileSync(join(folder.path, "a.txt"), "one\ntwo\nthree\n");
  mkdirSync(join(folder.path, "sub"));
});
afterEach(() => folder[Symbol.dispose]());

const first = (result: { content: unknown }) => (result.content as { text: string }[])[0]!.text;

describe("over HTTP", () => {
  it("each revision and REST give the answers that stdio gives", async () => {
    await using stdio = await connect(folder.path, "2025-11-25", ["--mode", "classic"]);
    await using server = await startHttp(folder.path, { args: ["--mode", "classic"] });
    const clients = await Promise.all(REVISIONS.map((revision) => server.connect(revision)));
    for (const [name, args] of TABLE) {
      const expected = await stdio.call(name, args);
      for (const client of clients) {
        const result = await client.callTool({ name, arguments: args });
        expect([result.isError === true, stable(first(result))]).toEqual([expected.isError, stable(expected.text)]);
      }
      const rest = await server.post("/tool", { session_id: "S", name, args });
      if (expected.isError) {
        const { error } = JSON.parse(expected.text) as { error: string };
        expect(rest.status).toBeGreaterThanOrEqual(400);
        expect(error.startsWith(String(rest.body["message"]))).toBe(true);
        expect(rest.body["correlation_id"]).toEqual(expect.any(String));
      } else expect(stable(JSON.stringify(rest.body))).toBe(stable(expected.text));
    }
    for (const [index, client] of clients.entries()) {
      expect(client.getNegotiatedProtocolVersion()).toBe(REVISIONS[index]);
      expect((await client.listTools()).tools.length).toBeGreaterThan(20);
      await client.close();
    }
  });

  it("answers the plain endpoints as their contract says", async () => {
    await using server = await startHttp(folder.path);
    expect(await (await server.fetch("/health")).json()).toEqual({
      ok: true,
      version: "v0",
      server_version: expect.any(String),
    });
    const known = await server.fetch("/health", { headers: { "x-llmc-token": TOKEN } });
    expect(await known.json()).toMatchObject({ ok: true, mode: "hybrid", isolation: expect.any(String) });
    expect(
      await server.post("/invoke_agent", { session_id: "S", role: "Otto", user_msg: "hello", inject_context: "" }),
    ).toMatchObject({ status: 200, body: { text: "[MCP v0] received; use /rag/search for pre-call context" } });
    expect(
      await server.post("/tool", { session_id: "S", name: "run_cmd", args: { command: "echo hi" } }),
    ).toMatchObject({ status: 200, body: { data: { stdout: "hi\n", exit_code: 0 } } });
    expect(await server.post("/tool", { name: "nothing", args: {} })).toMatchObject({
      status: 422,
      body: { code: "UNKNOWN_TOOL" },
    });
    expect(await server.post("/tool", { name: "stat", args: {} })).toMatchObject({
      status: 422,
      body: { code: "BAD_ARGS", message: "stat needs path." },
    });
    expect(await server.post("/tool", { name: "stat", args: { path: "gone" } })).toMatchObject({
      status: 404,
      body: { code: "NOT_FOUND" },
    });
    expect(await server.post("/tool", { name: "stat", args: { path: "/etc/passwd" } })).toMatchObject({
      status: 403,
      body: { code: "FORBIDDEN" },
    });
    expect(await server.post("/tool", "{bad")).toMatchObject({ status: 422, body: { code: "BAD_ARGS" } });
    expect(await server.post("/nothing", {})).toMatchObject({ status: 404 });
    const api = (await (await server.fetch("/openapi.json", { headers: { "x-llmc-token": TOKEN } })).json()) as {
      paths: Record<string, unknown>;
    };
    expect(Object.keys(api.paths)).toEqual(["/health", "/tool", "/invoke_agent", "/rag/search", "/rag/bootload"]);
    expect(await (await server.fetch("/metrics", { headers: { "x-llmc-token": TOKEN } })).text()).toContain(
      'llmc_tool_calls_total{tool="run_cmd",code="ok"} 1',
    );
  });

  it("carries the caller's correlation id when it is well-formed", async () => {
    await using server = await startHttp(folder.path);
    const own = await server.post(
      "/tool",
      { name: "stat", args: { path: "gone" } },
      { "x-llmc-token": TOKEN, "x-correlation-id": "trace-42" },
    );
    expect([own.headers.get("x-correlation-id"), own.body["correlation_id"]]).toEqual(["trace-42", "trace-42"]);
    const odd = await server.post(
      "/tool",
      { name: "stat", args: { path: "gone" } },
      { "x-llmc-token": TOKEN, "x-correlation-id": "a b;c" },
    );
    expect(odd.headers.get("x-correlation-id")).toMatch(/^[0-9a-f]{8}$/);
    const audit = readFileSync(join(folder.path, ".llmc/audit/audit.jsonl"), "utf8");
    expect(audit).toContain('"correlation_id":"trace-42","principal":"token:default","via":"rest"');
  });

  it("knows several callers apart, with a scope each", async () => {
    const digest = createHash("sha256").update("carol-token-0123456789").digest("hex");
    writeFileSync(
      join(folder.path, "llmc.toml"),
      `[[mcp.auth.tokens]]\nname = "bob"\ntoken_env = "BOB"\ntools = ["read_*", "stat"]\n[[mcp.auth.tokens]]\nname = "carol"\nsha256 = "${digest}"\n`,
    );
    await using server = await startHttp(folder.path, { env: { BOB: "bob-token-0123456789ab" } });
    const as = (token: string, name: string, args: unknown) =>
      server.post("/tool", { name, args }, { authorization: `Bearer ${token}` });
    expect((await as("bob-token-0123456789ab", "stat", { path: "a.txt" })).status).toBe(200);
    expect(await as("bob-token-0123456789ab", "run_cmd", { command: "true" })).toMatchObject({
      status: 403,
      body: { message: "Your token may not call run_cmd." },
    });
    const kept = await as("carol-token-0123456789", "read_file", { path: "a.txt", max_bytes: 4 });
    const { handle } = (kept.body as { meta: { handle: string } }).meta;
    expect((await as("carol-token-0123456789", "read_file", { path: handle })).status).toBe(200);
    expect((await as("bob-token-0123456789ab", "read_file", { path: handle })).status).toBe(404);
  });

  it("keeps a session to its owner, and gives way to newer ones beyond the limit", async () => {
    writeFileSync(
      join(folder.path, "llmc.toml"),
      '[[mcp.auth.tokens]]\nname = "bob"\ntoken_env = "BOB"\n[mcp.limits]\nmax_sessions_per_principal = 2\n',
    );
    await using server = await startHttp(folder.path, { env: { BOB: "bob-token-0123456789ab" } });
    const initialize = {
      jsonrpc: "2.0",
      id: 1,
      method: "initialize",
      params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "t", version: "1" } },
    };
    const accept = { accept: "application/json, text/event-stream", "content-type": "application/json" };
    const open = async () => {
      const response = await server.fetch("/mcp", {
        method: "POST",
        headers: { ...accept, "x-llmc-token": TOKEN },
        body: JSON.stringify(initialize),
      });
      await response.body?.cancel();
      return response.headers.get("mcp-session-id")!;
    };
    const ping = async (session: string, token = TOKEN) => {
      const response = await server.fetch("/mcp", {
        method: "POST",
        headers: { ...accept, "x-llmc-token": token, "mcp-session-id": session, "mcp-protocol-version": "2025-06-18" },
        body: JSON.stringify({ jsonrpc: "2.0", id: 2, method: "ping" }),
      });
      await response.body?.cancel();
      return response.status;
    };
    const [one, two, three] = [await open(), await open(), await open()];
    expect([await ping(one), await ping(two), await ping(three)]).toEqual([404, 200, 200]);
    expect(await ping(three, "bob-token-0123456789ab")).toBe(404);
    const gone = await server.fetch("/mcp", {
      method: "DELETE",
      headers: { "x-llmc-token": TOKEN, "mcp-session-id": two, "mcp-protocol-version": "2025-06-18" },
    });
    expect([gone.status, await ping(two)]).toEqual([200, 404]);
  });

  it("keeps a caller's variables between stateless calls, and apart from another caller's", async () => {
    writeFileSync(join(folder.path, "llmc.toml"), '[[mcp.auth.tokens]]\nname = "bob"\ntoken_env = "BOB"\n');
    await using server = await startHttp(folder.path, { env: { BOB: "bob-token-0123456789ab" } });
    const client = await server.connect("2026-07-28");
    const run = async (code: string) =>
      first(await client.callTool({ name: "execute_code", arguments: { language: "javascript", code } }));
    await run("var kept = 41");
    expect(await run("kept + 1")).toContain('"result":42');
    const args = { language: "javascript", code: "typeof kept" };
    const other = await server.post(
      "/tool",
      { name: "execute_code", args },
      { "x-llmc-token": "bob-token-0123456789ab" },
    );
    expect(other.body["result"]).toBe("undefined");
    await client.close();
  });

  it("drains on SIGTERM: the call under way is answered, new ones are not taken", async () => {
    const server = await startHttp(folder.path);
    const slow = server.post("/tool", { name: "run_cmd", args: { command: "sleep 1" } });
    while (!readFileSync(`/proc/${server.pid}/task/${server.pid}/children`, "utf8").trim())
      await new Promise((resolve) => setTimeout(resolve, 20));
    server.signal("SIGTERM");
    expect((await slow).status).toBe(200);
    expect(await server.exited()).toEqual([0, null]);
  });

  it("reads its configuration again on SIGHUP, all of it or none", async () => {
    const config = join(folder.path, "llmc.toml");
    writeFileSync(config, "");
    await using server = await startHttp(folder.path);
    const stat = async () => (await server.post("/tool", { name: "stat", args: { path: "a.txt" } })).status;
    expect(await stat()).toBe(200);
    writeFileSync(config, "[mcp.tools]\ndisabled = ['stat']\n");
    server.signal("SIGHUP");
    await until(() => server.log().includes("the configuration was read again"));
    expect(await stat()).toBe(403);
    expect(server.log()).toContain('"changes":{"mcp.tools.disabled":{"from":[],"to":["stat"]}}');
    writeFileSync(config, "[mcp.tools]\ndisabled = []\nnonsense = 1\n");
    server.signal("SIGHUP");
    await until(() => server.log().includes("the old one stays"));
    expect(await stat()).toBe(403);
    writeFileSync(config, "[mcp.limits]\nmax_header_bytes = 2000\n");
    server.signal("SIGHUP");
    await until(() => server.log().includes("mcp.limits.max_header_bytes cannot change while serving"));
    expect(await stat()).toBe(403);
  });

  it("refuses to start without a token, with a weak one, or open to the network", async () => {
    const start = (args: string[], env: Record<string, string> = {}) =>
      runBinary(["serve", "--http", "--port", "0", "--root", folder.path, ...args], { env });
    expect((await start([])).stderr).toContain("No token: LLMC_MCP_TOKEN is not set");
    expect((await start([], { LLMC_MCP_TOKEN: "short" })).stderr).toContain("shorter than 16");
    const open = { LLMC_MCP_AUTH_MODE: "none", LLMC_MCP_AUTH_ALLOW_UNAUTHENTICATED: "true" };
    expect((await start(["--host", "0.0.0.0"], open)).stderr).toContain("loopback only");
    expect((await start([], { LLMC_MCP_AUTH_MODE: "none" })).stderr).toContain("allow_unauthenticated");
    expect((await start([], { LLMC_MCP_TOKEN: TOKEN, LLMC_MCP_SERVER_TLS_ENABLED: "true" })).stderr).toContain(
      "needs mcp.server.tls_cert",
    );
  });

  it("answers the curl session of the documents", async () => {
    writeFileSync(join(folder.path, "README.md"), "# Hello\n");
    await using server = await startHttp(folder.path);
    const page = readFileSync(new URL("../../docs/http.md", import.meta.url), "utf8");
    const [, block] = /<!-- run by: tests\/e2e\/http.test.ts -->\n```sh\n([\s\S]*?)```/.exec(page)!;
    const lines = block!.trim().split("\n");
    const answers = lines.map((line) =>
      JSON.parse(
        execFileSync("sh", ["-c", line], {
          encoding: "utf8",
          env: { PATH: process.env["PATH"], URL: server.url, LLMC_MCP_TOKEN: TOKEN },
        }),
      ),
    );
    expect(answers).toMatchObject([
      { ok: true },
      { data: ["README.md", "a.txt", "sub/"] },
      { data: { size: 8 } },
      { code: "AUTH_FAILED" },
    ]);
  });

  it("says that a port is in use", async () => {
    await using server = await startHttp(folder.path);
    const { port } = new URL(server.url);
    const second = await runBinary(["serve", "--http", "--port", port, "--root", folder.path], {
      env: { LLMC_MCP_TOKEN: TOKEN },
    });
    expect([second.code, second.stderr]).toEqual([2, expect.stringContaining(`Port ${port} is in use`)]);
  });

  it("lets callers in without a token on loopback when the operator says so", async () => {
    await using server = await startHttp(folder.path, { env: { LLMC_MCP_AUTH_ALLOW_UNAUTHENTICATED: "true" } });
    expect((await server.post("/tool", { name: "stat", args: { path: "a.txt" } }, {})).status).toBe(200);
    expect(
      (await server.post("/tool", { name: "stat", args: { path: "a.txt" } }, { "x-llmc-token": "wrong" })).status,
    ).toBe(401);
  });
});

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 20));
}
