import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { get } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Caddy, startCaddy } from "../harness/caddy.ts";
import { REVISIONS } from "../harness/client.ts";
import { startHaproxy } from "../harness/haproxy.ts";
import { connectAt, type HttpServer, startHttp, TOKEN } from "../harness/http.ts";
import { type PostgresServer, startPostgres } from "../harness/postgres.ts";
import { temp } from "../harness/temp.ts";

const folder = temp();
const states = temp();
let postgres: PostgresServer;
let replicas: HttpServer[];
let caddy: Caddy;
beforeAll(async () => {
  postgres = await startPostgres();
  const store = "[mcp.store]\nbackend = 'postgres'\n";
  writeFileSync(join(folder.path, "llmc.toml"), `[mcp]\nmode = 'classic'\n${store}`);
  const start = (name: string) =>
    startHttp(folder.path, { env: { LLMC_STORE_URL: postgres.url, LLMC_STATE_DIR: join(states.path, name) } });
  replicas = await Promise.all([start("a"), start("b")]);
  caddy = await startCaddy(
    "team/Caddyfile",
    replicas.map(({ url }) => url),
  );
});
afterAll(async () => {
  await caddy?.[Symbol.asyncDispose]();
  for (const replica of replicas ?? []) await replica[Symbol.asyncDispose]();
  await postgres[Symbol.asyncDispose]();
  for (const each of [folder, states]) each[Symbol.dispose]();
});

const headers = { "content-type": "application/json", "x-llmc-token": TOKEN };
const post = (path: string, body: object, more: Record<string, string> = {}) =>
  fetch(caddy.url + path, { method: "POST", body: JSON.stringify(body), headers: { ...headers, ...more } });

/** How often each replica says that it ran this tool. */
function ran(tool: string): number[] {
  return ["a", "b"].map((name) => {
    const audit = join(states.path, name, "audit");
    const lines = existsSync(audit) ? readdirSync(audit).map((file) => readFileSync(join(audit, file), "utf8")) : [];
    return lines.join("").split(`"tool":"${tool}"`).length - 1;
  });
}

describe("through deploy/team/Caddyfile", () => {
  it("REST calls go to both replicas, each once", async () => {
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, n) =>
        post("/tool", { name: "linux_fs_write", args: { path: `w${n}`, content: "x", mode: "append" } }),
      ),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    const [a, b] = ran("linux_fs_write");
    expect(a! + b!).toBe(60);
    expect([a! > 0, b! > 0]).toEqual([true, true]);
  });

  it.each(REVISIONS)("a client of revision %s is served with nothing sticky", async (revision) => {
    const client = await connectAt(caddy.url, revision);
    const before = ran("stat");
    for (let call = 0; call < 6; call++) {
      // Something else is under way, so that the next goes elsewhere.
      const other = client.callTool({ name: "run_cmd", arguments: { argv: ["ls"] } });
      const result = await client.callTool({ name: "stat", arguments: { path: "llmc.toml" } });
      expect([call, result.isError === true]).toEqual([call, false]);
      await other;
    }
    const [a, b] = ran("stat").map((count, index) => count - before[index]!);
    expect(a! + b!).toBe(6);
    await client.close();
  });

  it("events of a call under way come before its end", async () => {
    // It ends when the first event is here: held back, it would run into its time.
    const code = `console.log("waiting"); for (;;) try { await tools.stat({ path: "go" }); break } catch { for (let n = 0; n < 1e5; n++); } "ended"`;
    const params = {
      name: "execute_code",
      arguments: { language: "javascript", session_id: "none", code },
      _meta: { progressToken: 1 },
    };
    const answer = await post(
      "/mcp",
      { jsonrpc: "2.0", id: 1, method: "tools/call", params },
      { accept: "application/json, text/event-stream", "mcp-protocol-version": "2025-11-25" },
    );
    expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "text/event-stream"]);
    let text = "";
    for await (const chunk of answer.body!.pipeThrough(new TextDecoderStream())) {
      if (text === "") writeFileSync(join(folder.path, "go"), "");
      text += chunk;
    }
    expect(text).toMatch(/notifications\/progress.*waiting.*ended/s);
  });
});

describe("a replica behind a balancer that breaks", () => {
  async function upstream(answer: "ok" | "break"): Promise<{ server: Server; url: string; bodies: string[] }> {
    const bodies: string[] = [];
    const server = createServer(async (request, response) => {
      if (request.url === "/health") return void response.end("{}");
      let body = "";
      for await (const chunk of request) body += chunk;
      bodies.push(body);
      if (answer === "break") return void request.socket.destroy();
      response.end("{}");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return { server, bodies, url: `127.0.0.1:${(server.address() as AddressInfo).port}` };
  }
  const close = (...servers: Server[]) => {
    for (const server of servers) server.close().closeAllConnections();
  };

  it.each(["Caddy", "HAProxy"])("in the middle of a POST ends that POST: %s gives it to nobody else", async (name) => {
    const [one, two] = [await upstream("break"), await upstream("break")];
    const urls = [one.url, two.url];
    await using front = await (name === "Caddy" ? startCaddy("team/Caddyfile", urls) : startHaproxy(urls));
    const { status } = await fetch(`${front.url}/tool`, { method: "POST", body: "once" });
    expect([status, [...one.bodies, ...two.bodies]]).toEqual([502, ["once"]]);
    close(one.server, two.server);
  });

  it("before it takes a POST leaves it to the other: HAProxy, where Caddy of Debian loses the body", async () => {
    const [gone, there] = [await upstream("ok"), await upstream("ok")];
    close(gone.server);
    await using front = await startHaproxy([gone.url, there.url]);
    for (let call = 0; call < 10; call++) {
      const { status } = await fetch(`${front.url}/tool`, { method: "POST", body: String(call) });
      expect([call, status]).toEqual([call, 200]);
    }
    expect(there.bodies).toEqual(Array.from({ length: 10 }, (_, call) => String(call)));
    close(there.server);
  });
});

describe("deploy/team/haproxy.cfg", () => {
  it("serves the replicas, and slows an address that asks too often", async () => {
    await using front = await startHaproxy(
      replicas.map(({ url }) => url.replace("http://", "")),
      5,
    );
    const statuses: number[] = [];
    for (let call = 0; call < 7; call++) statuses.push((await fetch(`${front.url}/health`)).status);
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429, 429]);
  });
});

describe("deploy/Caddyfile", () => {
  it("serves llmc over TLS", async () => {
    await using front = await startCaddy("Caddyfile", [replicas[0]!.url], { tls: true });
    const answer = await new Promise<{ status: number | undefined; security: unknown }>((resolve, reject) => {
      get(`${front.url}/health`, { ca: front.authority() }, (response) => {
        response.resume();
        resolve({ status: response.statusCode, security: response.headers["strict-transport-security"] });
      }).on("error", reject);
    });
    expect(answer).toEqual({ status: 200, security: "max-age=31536000" });
  });
});
