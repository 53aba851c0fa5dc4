import { spawn } from "node:child_process";
import { once } from "node:events";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { BINARY, plainEnv } from "./cli.ts";
import type { Revision } from "./client.ts";

export const TOKEN = "test-token-0123456789abcdef";

export interface HttpServer extends AsyncDisposable {
  readonly url: string;
  readonly pid: number;
  log(): string;
  signal(name: NodeJS.Signals): void;
  exited(): Promise<[number | null, NodeJS.Signals | null]>;
  fetch(path: string, init?: RequestInit): Promise<Response>;
  post(
    path: string,
    body: unknown,
    headers?: Record<string, string>,
  ): Promise<{ status: number; body: Record<string, unknown>; headers: Headers }>;
  /** `send`: instead of fetch. */
  connect(revision: Revision, send?: typeof fetch): Promise<Client>;
}

/** The built binary serving HTTP on a free loopback port. */
export async function startHttp(
  root: string,
  options: { env?: Record<string, string>; args?: readonly string[]; without?: readonly string[] } = {},
): Promise<HttpServer> {
  const env = plainEnv({
    LLMC_MCP_TOKEN: TOKEN,
    LLMC_MCP_LIMITS_RATE_LIMIT_RPS: "1000",
    LLMC_MCP_LIMITS_RATE_LIMIT_BURST: "1000",
    LLMC_MCP_LIMITS_CONCURRENCY_PER_TOKEN: "64",
    ...options.env,
  });
  for (const name of options.without ?? []) delete env[name];
  const child = spawn(BINARY, ["serve", "--http", "--port", "0", "--root", root, ...(options.args ?? [])], {
    stdio: ["ignore", "ignore", "pipe"],
    env,
  });
  let log = "";
  const exited = once(child, "exit") as Promise<[number | null, NodeJS.Signals | null]>;
  const url = await new Promise<string>((resolve, reject) => {
    child.stderr.on("data", (chunk: Buffer) => {
      log += chunk;
      const found = /at (https?:\/\/\S+) \(MCP/.exec(log);
      if (found) resolve(found[1]!);
    });
    void exited.then(([code]) => reject(new Error(`the server ended with ${code}: ${log}`)));
  });
  const fetchFrom = (path: string, init: RequestInit = {}) => fetch(url + path, init);
  return {
    url,
    pid: child.pid!,
    log: () => log,
    signal: (name) => void child.kill(name),
    exited: () => exited,
    fetch: fetchFrom,
    async post(path, body, headers = { "x-llmc-token": TOKEN }) {
      const response = await fetchFrom(path, {
        method: "POST",
        body: typeof body === "string" ? body : JSON.stringify(body),
        headers: { "content-type": "application/json", ...headers },
      });
      const text = await response.text();
      return {
        status: response.status,
        body: text === "" ? {} : (JSON.parse(text) as Record<string, unknown>),
        headers: response.headers,
      };
    },
    connect: (revision, send) => connectAt(url, revision, send),
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await exited;
    },
  };
}

/** The official client at one protocol revision, at whatever answers at this address. */
export async function connectAt(url: string, revision: Revision, send?: typeof fetch): Promise<Client> {
  const client = new Client(
    { name: "tests", version: "1" },
    revision === "2026-07-28"
      ? { versionNegotiation: { mode: { pin: revision } } }
      : { supportedProtocolVersions: [revision] },
  );
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${url}/mcp`), {
      requestInit: { headers: { authorization: `Bearer ${TOKEN}` } },
      ...(send ? { fetch: send } : {}),
    }),
  );
  return client;
}
