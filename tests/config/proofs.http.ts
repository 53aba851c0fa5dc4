import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { request as requestTls } from "node:https";
import { connect } from "node:net";
import { join } from "node:path";
import { runBinary } from "../harness/cli.ts";
import { type HttpServer, startHttp, TOKEN } from "../harness/http.ts";
import { temp } from "../harness/temp.ts";
import type { Proof } from "./proof.ts";

type Look = (server: HttpServer) => Promise<unknown>;

/** The same look at two servers over HTTP that differ in their llmc.toml. */
function overHttp(look: Look, changed: string, env: Record<string, string> = {}, base = ""): Proof {
  return async () => {
    const seen: unknown[] = [];
    for (const config of [base, base + changed]) {
      using folder = temp();
      writeFileSync(join(folder.path, "llmc.toml"), config);
      writeFileSync(join(folder.path, "a.txt"), "x");
      await using server = await startHttp(folder.path, { env });
      seen.push(await look(server));
    }
    return seen as [unknown, unknown];
  };
}

const stat = { name: "stat", args: { path: "a.txt" } };
const status =
  (path: string, headers: Record<string, string> = { "x-llmc-token": TOKEN }): Look =>
  async (server) =>
    (await server.fetch(path, { headers })).status;
const statStatus =
  (headers: Record<string, string>): Look =>
  async (server) =>
    (await server.post("/tool", stat, headers)).status;

/** How the server starts, or why it does not. */
async function started(config: string, env: Record<string, string> = {}): Promise<string> {
  using folder = temp();
  writeFileSync(join(folder.path, "llmc.toml"), config);
  try {
    await using server = await startHttp(folder.path, { env });
    return server.url.replace(/\d+$/, "");
  } catch (error) {
    return (error as Error).message;
  }
}

function certificate(folder: string): string {
  const files = ["-keyout", join(folder, "key.pem"), "-out", join(folder, "cert.pem")];
  execFileSync(
    "openssl",
    ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost", ...files],
    { stdio: "ignore" },
  );
  return `[mcp.server]\ntls_enabled = true\ntls_cert = "cert.pem"\ntls_key = "key.pem"\n`;
}

/** Whether a server with this configuration answers over TLS. */
async function overTls(change: (config: string) => string): Promise<unknown> {
  using folder = temp();
  writeFileSync(join(folder.path, "llmc.toml"), change(certificate(folder.path)));
  try {
    await using server = await startHttp(folder.path);
    if (!server.url.startsWith("https:")) return "plain";
    return await new Promise((resolve, reject) => {
      requestTls(`${server.url}/health`, { rejectUnauthorized: false }, (response) =>
        resolve(response.resume().statusCode),
      )
        .on("error", reject)
        .end();
    });
  } catch (error) {
    return (error as Error).message.slice(0, 200);
  }
}

/** The status of a request that node's own client would not send. */
function raw(server: HttpServer, head: string): Promise<string> {
  return new Promise((resolve) => {
    const { hostname, port } = new URL(server.url);
    let answer = "";
    connect(Number(port), hostname, function (this: import("node:net").Socket) {
      this.write(head);
    })
      .on("data", (chunk: Buffer) => (answer += chunk))
      .on("close", () => resolve(answer.slice(9, 12)));
  });
}

async function sessionsLeft(server: HttpServer): Promise<number[]> {
  const accept = {
    accept: "application/json, text/event-stream",
    "content-type": "application/json",
    "x-llmc-token": TOKEN,
  };
  const initialize = {
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "t", version: "1" } },
  };
  const ids: string[] = [];
  for (let index = 0; index < 3; index++) {
    const response = await server.fetch("/mcp", { method: "POST", headers: accept, body: JSON.stringify(initialize) });
    await response.text();
    ids.push(response.headers.get("mcp-session-id")!);
  }
  const statuses: number[] = [];
  for (const id of ids) {
    const response = await server.fetch("/mcp", {
      method: "POST",
      headers: { ...accept, "mcp-session-id": id, "mcp-protocol-version": "2025-06-18" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 2, method: "ping" }),
    });
    await response.text();
    statuses.push(response.status);
  }
  return statuses;
}

const burst: Look = async (server) => {
  const replies = await Promise.all(Array.from({ length: 30 }, () => server.post("/tool", stat)));
  return replies.filter(({ status }) => status === 200).length;
};
const DEFAULT_RATE = { LLMC_MCP_LIMITS_RATE_LIMIT_RPS: "1000", LLMC_MCP_LIMITS_RATE_LIMIT_BURST: "1000" };

/** Drops what the harness sets, so that the file decides. */
function fileDecides(look: Look, changed: string, base: string): Proof {
  return async () => {
    const seen: unknown[] = [];
    for (const config of [base, base + changed]) {
      using folder = temp();
      writeFileSync(join(folder.path, "llmc.toml"), config);
      writeFileSync(join(folder.path, "a.txt"), "x");
      const env = Object.fromEntries(
        ["RATE_LIMIT_RPS", "RATE_LIMIT_BURST", "CONCURRENCY_PER_TOKEN"].map((key) => [`LLMC_MCP_LIMITS_${key}`, ""]),
      );
      await using server = await startHttp(folder.path, { env, without: Object.keys(env) });
      seen.push(await look(server));
    }
    return seen as [unknown, unknown];
  };
}

export const HTTP_PROOFS: Record<string, Proof> = {
  "mcp.server.host": async () => [await started(""), await started('[mcp.server]\nhost = "::1"\n')],
  "mcp.server.port": async () => {
    using folder = temp();
    const run = async (config: string) => {
      writeFileSync(join(folder.path, "llmc.toml"), config);
      return (await runBinary(["config", "show", "--json", "--root", folder.path])).stdout.includes('"value": 9999');
    };
    return [await run(""), await run("[mcp.server]\nport = 9999\n")];
  },
  "mcp.server.tls_enabled": async () => [
    await overTls((config) => config.replace("tls_enabled = true", "tls_enabled = false")),
    await overTls((config) => config),
  ],
  "mcp.server.tls_cert": async () => [
    await overTls((config) => config),
    await overTls((config) => config.replace("cert.pem", "gone.pem")),
  ],
  "mcp.server.tls_key": async () => [
    await overTls((config) => config),
    await overTls((config) => config.replace("key.pem", "gone.pem")),
  ],
  "mcp.server.allowed_hosts": overHttp(
    (server) => raw(server, "GET /health HTTP/1.1\r\nhost: llmc.test\r\nconnection: close\r\n\r\n"),
    '[mcp.server]\nallowed_hosts = ["llmc.test"]\n',
  ),
  "mcp.server.allowed_origins": overHttp(
    (server) =>
      raw(server, "GET /health HTTP/1.1\r\nhost: localhost\r\norigin: https://app.test\r\nconnection: close\r\n\r\n"),
    '[mcp.server]\nallowed_origins = ["https://app.test"]\n',
  ),
  "mcp.auth.mode": async () => [await started(""), await started('[mcp.auth]\nmode = "none"\n')],
  "mcp.auth.header": overHttp(statStatus({ "x-other": TOKEN }), '[mcp.auth]\nheader = "X-Other"\n'),
  "mcp.auth.token_env": overHttp(
    statStatus({ "x-llmc-token": "another-token-0123456789" }),
    '[mcp.auth]\ntoken_env = "OTHER_TOKEN"\n',
    { OTHER_TOKEN: "another-token-0123456789" },
  ),
  "mcp.auth.allow_unauthenticated": overHttp(statStatus({}), "[mcp.auth]\nallow_unauthenticated = true\n"),
  "mcp.auth.tokens": overHttp(
    statStatus({ "x-llmc-token": "bobs-token-0123456789" }),
    '[[mcp.auth.tokens]]\nname = "bob"\ntoken_env = "BOB"\n',
    { BOB: "bobs-token-0123456789" },
  ),
  "mcp.limits.rate_limit_rps": fileDecides(
    burst,
    "rate_limit_rps = 1\n",
    "[mcp.limits]\nconcurrency_per_token = 64\nrate_limit_burst = 0\n",
  ),
  "mcp.limits.rate_limit_burst": fileDecides(
    burst,
    "rate_limit_burst = 1\n",
    "[mcp.limits]\nconcurrency_per_token = 64\n",
  ),
  "mcp.limits.concurrency_per_token": fileDecides(
    async (server) => {
      const slow = { name: "run_cmd", args: { command: "sleep 0.5" } };
      const replies = await Promise.all(Array.from({ length: 4 }, () => server.post("/tool", slow)));
      return replies.filter(({ status }) => status === 200).length;
    },
    "concurrency_per_token = 2\n",
    "[mcp.limits]\n",
  ),
  "mcp.limits.max_header_bytes": overHttp(
    (server) =>
      raw(
        server,
        `GET /health HTTP/1.1\r\nhost: localhost\r\nx-long: ${"x".repeat(3000)}\r\nconnection: close\r\n\r\n`,
      ),
    "[mcp.limits]\nmax_header_bytes = 2000\n",
    DEFAULT_RATE,
  ),
  "mcp.limits.max_sessions_per_principal": overHttp(sessionsLeft, "[mcp.limits]\nmax_sessions_per_principal = 1\n"),
  "mcp.observability.metrics_prometheus_enabled": overHttp(
    status("/metrics"),
    "[mcp.observability]\nmetrics_prometheus_enabled = false\n",
  ),
  "mcp.observability.metrics_path": overHttp(status("/figures"), '[mcp.observability]\nmetrics_path = "/figures"\n'),
};
