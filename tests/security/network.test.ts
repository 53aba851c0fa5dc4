import { readFileSync, writeFileSync } from "node:fs";
import { connect as connectTcp } from "node:net";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type HttpServer, startHttp, TOKEN } from "../harness/http.ts";
import { type Temp, temp } from "../harness/temp.ts";

let folder: Temp;
let server: HttpServer;
beforeAll(async () => {
  folder = temp();
  writeFileSync(join(folder.path, "a.txt"), "hello\n");
  writeFileSync(
    join(folder.path, "llmc.toml"),
    '[mcp.server]\nallowed_hosts = ["llmc.example.org"]\nallowed_origins = ["https://app.example.org"]\n[mcp.limits]\nmax_request_bytes = 20000\n',
  );
  server = await startHttp(folder.path);
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

const STAT = JSON.stringify({ name: "stat", args: { path: "a.txt" } });

/** A request as it stands, byte by byte: a client library would mend it. */
function raw(text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(server.url);
    const socket = connectTcp(Number(port), hostname);
    let answer = "";
    socket.on("data", (chunk) => (answer += chunk));
    socket.on("close", () => resolve(answer));
    socket.on("error", reject);
    socket.write(text);
  });
}

function post(headers: Record<string, string>, body: string, path = "/tool"): Promise<string> {
  const all = {
    host: "127.0.0.1",
    connection: "close",
    "content-type": "application/json",
    "content-length": String(Buffer.byteLength(body)),
    ...headers,
  };
  const head = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  return raw(`POST ${path} HTTP/1.1\r\n${head.join("\r\n")}\r\n\r\n${body}`);
}

const status = (answer: string) => Number(answer.slice(9, 12));
const token = { "x-llmc-token": TOKEN };

describe("Host and Origin", () => {
  it.each([
    "evil.example",
    "127.0.0.1.evil.example",
    "localhost.evil.example",
    "evil.example:8080",
    "",
    "[::1].evil",
    "0.0.0.0",
    "169.254.169.254",
  ])("a Host of %j is refused", async (host) => {
    // What is no host name at all is refused before we see it.
    expect([400, 403]).toContain(status(await post({ ...token, host }, STAT)));
  });
  it.each(["127.0.0.1", "localhost:1234", "[::1]:80", "LLMC.example.org", "llmc.example.org:443"])(
    "a Host of %j is ours",
    async (host) => {
      expect(status(await post({ ...token, host }, STAT))).toBe(200);
    },
  );
  it.each([
    "https://evil.example",
    "null",
    "http://localhost.evil.example",
    "https://app.example.org.evil.example",
    "http://app.example.org",
    "file://",
    "http://[::2]",
  ])("an Origin of %j is refused", async (origin) => {
    expect(status(await post({ ...token, origin }, STAT))).toBe(403);
    expect(status(await post({ ...token, origin }, "{}", "/mcp"))).toBe(403);
  });
  it.each(["http://localhost:5173", "http://[::1]:3000", "https://app.example.org"])(
    "an Origin of %j is ours",
    async (origin) => {
      expect(status(await post({ ...token, origin }, STAT))).toBe(200);
    },
  );
});

describe("tokens", () => {
  it.each([
    ["none", {}],
    ["a wrong one", { "x-llmc-token": "wrong-token-0123456789" }],
    ["a prefix of the right one", { "x-llmc-token": TOKEN.slice(0, -1) }],
    ["the right one twice as long", { "x-llmc-token": TOKEN + TOKEN }],
    ["the right one and a wrong one", { "x-llmc-token": TOKEN, authorization: "Bearer wrong-token-0123456789" }],
    ["an empty one", { "x-llmc-token": "" }],
    ["another scheme", { authorization: `Basic ${TOKEN}` }],
  ])("%s is refused with a challenge, and the token is not echoed", async (_name, headers) => {
    const answer = await post(headers, STAT);
    expect(status(answer)).toBe(401);
    expect(answer.toLowerCase()).toContain("www-authenticate: bearer");
    expect(answer).not.toContain("wrong-token");
  });

  it("a token sent twice in one header is refused", async () => {
    const answer = await raw(
      `POST /tool HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\nx-llmc-token: ${TOKEN}\r\nx-llmc-token: ${TOKEN}\r\ncontent-length: ${STAT.length}\r\n\r\n${STAT}`,
    );
    expect(status(answer)).toBe(401);
  });

  it("a token in the query string is not one", async () => {
    expect(status(await post({}, STAT, `/tool?token=${TOKEN}&x-llmc-token=${TOKEN}`))).toBe(401);
  });

  it("guessing gets slower, and nothing of the token stands in the log", async () => {
    for (let guess = 0; guess < 3; guess++) await post({ "x-llmc-token": `guess-${guess}-0123456789` }, STAT);
    expect(server.log()).toContain("a caller was refused");
    expect(server.log()).not.toMatch(/guess-\d|wrong-token/);
    expect(server.log()).not.toContain(TOKEN);
  });

  it("metrics and the description need one, health and the resource metadata do not", async () => {
    for (const path of ["/metrics", "/openapi.json", "/mcp"]) expect((await server.fetch(path)).status).toBe(401);
    expect((await server.fetch("/health")).status).toBe(200);
    expect(await (await server.fetch("/.well-known/oauth-protected-resource/mcp")).json()).toMatchObject({
      bearer_methods_supported: ["header"],
    });
  });
});

describe("bodies", () => {
  const big = JSON.stringify({ name: "stat", args: { path: "x".repeat(30_000) } });

  it("over the limit are refused by their declared length, and while they stream without one", async () => {
    expect(status(await post(token, big))).toBe(413);
    const chunks = Array.from({ length: 40 }, () => `3e8\r\n${"x".repeat(1000)}\r\n`).join("");
    const chunked = await raw(
      `POST /tool HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\nx-llmc-token: ${TOKEN}\r\ntransfer-encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`,
    );
    expect(status(chunked)).toBe(413);
    expect(status(await post({ ...token, accept: "application/json, text/event-stream" }, big, "/mcp"))).toBe(413);
  });

  it("with a false Content-Length do not hang or pass", async () => {
    const short = await raw(
      `POST /tool HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\nx-llmc-token: ${TOKEN}\r\ncontent-length: 10\r\n\r\n${STAT}`,
    );
    expect([400, 422]).toContain(status(short));
    const both = await raw(
      `POST /tool HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\nx-llmc-token: ${TOKEN}\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
    );
    expect(status(both)).toBe(400);
  });

  it("that are packed are not unpacked", async () => {
    const bomb = gzipSync(Buffer.alloc(10_000_000));
    const response = await fetch(`${server.url}/tool`, {
      method: "POST",
      headers: { ...token, "content-encoding": "gzip", "content-type": "application/json" },
      body: bomb,
    });
    expect(response.status).toBe(422);
    const mcp = await fetch(`${server.url}/mcp`, {
      method: "POST",
      headers: { ...token, "content-encoding": "gzip", "content-type": "application/json" },
      body: bomb,
    });
    expect(mcp.status).toBe(422);
  });

  it("with deep nesting, many keys or __proto__ are answered", async () => {
    expect(status(await post(token, `{"name":"stat","args":${"[".repeat(9000)}${"]".repeat(9000)}}`))).toBe(422);
    const keys = JSON.stringify({
      name: "stat",
      args: Object.fromEntries(Array.from({ length: 1500 }, (_, key) => [`k${key}`, 1])),
    });
    expect(status(await post(token, keys))).toBe(422);
    expect(status(await post(token, '{"name":"stat","args":{"path":"a.txt","__proto__":{"polluted":1}}}'))).toBe(422);
    expect(status(await post(token, '{"__proto__":{"name":"stat"},"args":{}}'))).toBe(422);
    for (const body of ["null", "[]", '"text"', "1", ""]) expect(status(await post(token, body))).toBe(422);
  });

  it("heads over the limit are refused", async () => {
    expect(status(await post({ ...token, "x-long": "x".repeat(20_000) }, STAT))).toBe(431);
  });
});

/** The whole flood is `LLMC_TEST_INITIALIZES=100000`; what is kept of one shows with fewer. */
const INITIALIZES = Number(process.env["LLMC_TEST_INITIALIZES"] ?? 3000);

function rss(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "latin1"))![1]) * 1024;
}

describe("a busy server", () => {
  it("answers others while one caller's regex is hostile", async () => {
    writeFileSync(join(folder.path, "long.txt"), `${"a".repeat(65_536)}!\n`);
    const hostile = server.post("/tool", { name: "linux_search_content", args: { root: ".", pattern: "(a+)+$" } });
    const others = await Promise.all(
      Array.from({ length: 20 }, () => server.post("/tool", { name: "stat", args: { path: "a.txt" } })),
    );
    expect(others.every(({ status }) => status === 200)).toBe(true);
    expect((await hostile).status).toBe(200);
  });

  it("does not grow with sessions that nobody closes", { timeout: 600_000 }, async () => {
    await using flooded = await startHttp(folder.path, { env: { LLMC_MCP_LIMITS_RATE_LIMIT_RPS: "100000" } });
    const initialize = JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "initialize",
      params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "t", version: "1" } },
    });
    const open = async () => {
      const response = await flooded.fetch("/mcp", {
        method: "POST",
        headers: { ...token, accept: "application/json, text/event-stream", "content-type": "application/json" },
        body: initialize,
      });
      await response.text();
      return response.status;
    };
    const seen = new Set<number>();
    const flood = async (count: number) => {
      for (let index = 0; index < count; index += 20)
        for (const status of await Promise.all(Array.from({ length: 20 }, open))) seen.add(status);
    };
    await flood(3000);
    const before = rss(flooded.pid);
    await flood(INITIALIZES);
    expect([...seen]).toEqual([200]);
    expect(rss(flooded.pid) - before).toBeLessThan(64 * 1024 ** 2);
  });
});

describe("limits", () => {
  it("above rate and burst are a clean 429 with Retry-After, and other callers do not suffer", async () => {
    using other = temp();
    writeFileSync(join(other.path, "a.txt"), "x");
    writeFileSync(join(other.path, "llmc.toml"), '[[mcp.auth.tokens]]\nname = "calm"\ntoken_env = "CALM"\n');
    const env = {
      LLMC_MCP_LIMITS_RATE_LIMIT_RPS: "10",
      LLMC_MCP_LIMITS_RATE_LIMIT_BURST: "20",
      CALM: "calm-token-0123456789",
    };
    await using limited = await startHttp(other.path, { env });
    const replies = await Promise.all(
      Array.from({ length: 60 }, () => limited.post("/tool", { name: "stat", args: { path: "a.txt" } })),
    );
    const refused = replies.filter(({ status }) => status === 429);
    expect(replies.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(30);
    expect(refused.length).toBeGreaterThan(0);
    for (const { body, headers } of refused) {
      expect(body["code"]).toBe("RATE_LIMITED");
      expect(Number(headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
    }
    expect(
      (
        await limited.post(
          "/tool",
          { name: "stat", args: { path: "a.txt" } },
          { "x-llmc-token": "calm-token-0123456789" },
        )
      ).status,
    ).toBe(200);
  });

  it("a batch does not carry many calls past them as one", async () => {
    const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
    for (const messages of [[ping], Array(100).fill(ping)]) {
      const reply = await server.post("/mcp", messages, {
        ...token,
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": "2025-06-18",
      });
      expect(reply).toMatchObject({ status: 400, body: { error: { code: -32600 } } });
    }
  });

  it("above the concurrency of a token are a clean 429", async () => {
    using other = temp();
    await using limited = await startHttp(other.path, { env: { LLMC_MCP_LIMITS_CONCURRENCY_PER_TOKEN: "2" } });
    const replies = await Promise.all(
      Array.from({ length: 5 }, () => limited.post("/tool", { name: "run_cmd", args: { command: "sleep 1" } })),
    );
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 200, 429, 429, 429]);
    expect((await limited.post("/tool", { name: "health", args: {} })).status).toBe(200);
  });
});
