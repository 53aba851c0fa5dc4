import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { getRequestListener } from "@hono/node-server";
import { createMcpHandler, Server } from "@modelcontextprotocol/server";
import autocannon from "autocannon";
import { Hono } from "hono";
import { median, row } from "./lib/servers.ts";

/** Requests a second and latency on loopback, against the same framework answering a constant. `--seconds N`, `--soak CALLS`. */
const seconds = Number(flag("--seconds") ?? 5);
const token = "bench-token-0123456789abcdef";
const root = mkdtempSync(join(tmpdir(), "llmc-load-"));
writeFileSync(join(root, "a.txt"), "line\n");

const floor = await constantServer();
const raised = { RATE_LIMIT_RPS: "1000000", RATE_LIMIT_BURST: "1000000", CONCURRENCY_PER_TOKEN: "1000" };
const server = await llmc(
  Object.fromEntries(Object.entries(raised).map(([key, value]) => [`LLMC_MCP_LIMITS_${key}`, value])),
);
const headers = { "content-type": "application/json", "x-llmc-token": token };
const stat = JSON.stringify({ name: "stat", args: { path: "a.txt" } });
const call = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "tools/call",
  params: {
    name: "stat",
    arguments: { path: "a.txt" },
    _meta: {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": {},
    },
  },
});
const mcpHeaders = {
  ...headers,
  accept: "application/json, text/event-stream",
  "mcp-protocol-version": "2026-07-28",
  "mcp-method": "tools/call",
  "mcp-name": "stat",
};

const bare = await bareMcpServer();
const nothing = JSON.stringify({
  ...JSON.parse(call),
  params: { ...JSON.parse(call).params, name: "nothing", arguments: {} },
});
const CASES: Readonly<Record<string, Options>> = {
  "floor, constant": { url: floor.url },
  "GET /health": { url: `${server.url}/health` },
  "POST /tool stat": { url: `${server.url}/tool`, method: "POST", headers, body: stat },
  "POST /mcp tools/call stat": { url: `${server.url}/mcp`, method: "POST", headers: mcpHeaders, body: call },
  "bare library /mcp tools/call": {
    url: `${bare.url}/mcp`,
    method: "POST",
    headers: { ...mcpHeaders, "mcp-name": "nothing" },
    body: nothing,
  },
};
const rates = await inTurns();
const mcpRatio = rates["bare library /mcp tools/call"]! / rates["POST /mcp tools/call stat"]!;
console.log(`time a /mcp call takes, ours / bare: ${mcpRatio.toFixed(2)}`);

console.log("\n100 requests a second with the raised limits");
const steady = await run({
  url: `${server.url}/tool`,
  method: "POST",
  headers,
  body: stat,
  overallRate: 100,
  duration: Math.max(5, seconds),
  connections: 10,
});
row("tool p97.5 ms, errors", steady.latency.p97_5, String(steady.non2xx + steady.errors));

const soak = Number(flag("--soak") ?? 0);
if (soak > 0) await soaked(soak);

server.child.kill("SIGTERM");
await new Promise((resolve) => server.child.once("exit", resolve));
floor.close();
bare.close();
rmSync(root, { recursive: true, force: true });

type Options = autocannon.Options;

function run(options: Options): Promise<autocannon.Result> {
  return new Promise((resolve, reject) =>
    autocannon({ connections: 10, duration: seconds, ...options }, (error: unknown, result: autocannon.Result) =>
      error ? reject(error) : resolve(result),
    ),
  );
}

/** A second of each in turn, so that all see the same machine; medians of the rounds. */
async function inTurns(): Promise<Record<string, number>> {
  const results: Record<string, autocannon.Result[]> = {};
  // The first round warms up.
  for (let round = 0; round <= Math.max(1, seconds); round++)
    for (const [name, options] of Object.entries(CASES)) {
      const result = await run({ ...options, duration: 1 });
      if (round > 0) (results[name] ??= []).push(result);
    }
  const ratesOf = (name: string) => results[name]!.map(({ requests }) => requests.average);
  const floor_rate = median(ratesOf("floor, constant"));
  row("", "req/s", "p50 ms", "p97.5 ms", "errors", "x floor");
  for (const [name, list] of Object.entries(results))
    row(
      name,
      median(ratesOf(name)),
      median(list.map(({ latency }) => latency.p50)),
      median(list.map(({ latency }) => latency.p97_5)),
      String(list.reduce((sum, { non2xx, errors }) => sum + non2xx + errors, 0)),
      (median(ratesOf(name)) / floor_rate).toFixed(2),
    );
  return Object.fromEntries(Object.keys(CASES).map((name) => [name, median(ratesOf(name))]));
}

async function soaked(calls: number): Promise<void> {
  console.log(`\nsoak of ${calls} calls over 50 connections: RSS in MB after each tenth`);
  const rss: number[] = [];
  for (let part = 0; part < 10; part++) {
    await run({
      url: `${server.url}/tool`,
      method: "POST",
      headers,
      body: stat,
      amount: Math.ceil(calls / 10),
      connections: 50,
    });
    rss.push(await memory());
  }
  console.log(rss.map((mb) => mb.toFixed(0)).join(" "));
  console.log(`last / second: ${(rss[9]! / rss[1]!).toFixed(3)}`);
}

async function memory(): Promise<number> {
  const { readFileSync } = await import("node:fs");
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.child.pid}/status`, "utf8"))![1]) / 1024;
}

async function constantServer(): Promise<{ url: string; close(): void }> {
  const app = new Hono().get(
    "/",
    () => new Response('{"ok":true}', { headers: { "content-type": "application/json" } }),
  );
  const http = createServer(getRequestListener(app.fetch));
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/`, close: () => http.close() };
}

/** The protocol library alone behind the same framework, with a tool that does nothing. */
async function bareMcpServer(): Promise<{ url: string; close(): void }> {
  const handler = createMcpHandler(() => {
    const one = new Server({ name: "bare", version: "1" }, { capabilities: { tools: {} } });
    one.setRequestHandler("tools/call", () => ({ content: [{ type: "text" as const, text: "ok" }] }));
    return one;
  });
  const app = new Hono().all("/mcp", (context) => handler.fetch(context.req.raw));
  const http = createServer(getRequestListener(app.fetch));
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`, close: () => http.close() };
}

async function llmc(env: Record<string, string>) {
  const binary = fileURLToPath(new URL("../bin/llmc", import.meta.url));
  const child = spawn(binary, ["serve", "--http", "--port", "0", "--root", root, "--log-level", "error"], {
    stdio: ["ignore", "ignore", "pipe"],
    env: { ...process.env, ...env, LLMC_MCP_TOKEN: token },
  });
  const url = await new Promise<string>((resolve) => {
    let text = "";
    child.stderr.on("data", (chunk: Buffer) => {
      text += chunk;
      const found = /at (http:\S+) \(MCP/.exec(text);
      if (found) resolve(found[1]!);
    });
  });
  return { child, url };
}

function flag(name: string): string | undefined {
  const at = process.argv.indexOf(name);
  return at === -1 ? undefined : process.argv[at + 1];
}
