import { spawn } from "node:child_process";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createApp } from "../../src/app.ts";
import { loadConfig } from "../../src/config/load.ts";
import {
  createAuth,
  createGuards,
  createHttpApp,
  createLimits,
  type Listening,
  listen,
} from "../../src/transports/http/index.ts";
import { type Temp, temp } from "../harness/temp.ts";
import { createFixtureServer } from "./fixture.ts";

/** The official suite against our HTTP transport, with a fixture behind it that only these tests can mount. */
let folder: Temp;
let listening: Listening;
let close: () => Promise<void>;

beforeAll(async () => {
  folder = temp();
  const loaded = loadConfig({
    cwd: folder.path,
    root: folder.path,
    env: {
      LLMC_MCP_OBSERVABILITY_ENABLED: "false",
      LLMC_MCP_SERVER_PORT: "0",
      LLMC_MCP_AUTH_ALLOW_UNAUTHENTICATED: "true",
      LLMC_MCP_LIMITS_RATE_LIMIT_RPS: "10000",
      LLMC_MCP_LIMITS_CONCURRENCY_PER_TOKEN: "100",
    },
  });
  const { mcp } = loaded.config;
  const app = createApp(loaded);
  const http = createHttpApp({
    auth: createAuth(mcp.auth, {}, true),
    limits: createLimits(mcp.limits),
    http_limits: mcp.limits,
    guard: createGuards(mcp.server),
    dispatch: app.dispatch,
    log: app.telemetry.log,
    version: app.version,
    config_version: mcp.config_version,
    token_header: mcp.auth.header,
    metrics_path: undefined,
    metrics: async () => "",
    health: app.health,
    is_replica: false,
    isDraining: () => false,
    listAll: app.listAll,
    hasTool: app.hasTool,
    serverFor: () =>
      createFixtureServer((what) =>
        what === "tools" ? http.mcp.notify.toolsChanged() : http.mcp.notify.promptsChanged(),
      ),
  });
  listening = await listen(http as never, mcp.server, mcp.limits, 5);
  close = async () => {
    await http.close();
    await listening.close(0);
    await app.close();
  };
});
afterAll(async () => {
  await close();
  folder[Symbol.dispose]();
});

function suite(...args: string[]): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve) => {
    const child = spawn(
      process.execPath,
      [
        "node_modules/@modelcontextprotocol/conformance/dist/index.js",
        "server",
        "--url",
        `${listening.url}/mcp`,
        // Its own clock is made for a machine that does nothing else.
        "--timeout",
        "120000",
        ...args,
      ],
      { env: { PATH: process.env["PATH"], NO_COLOR: "1" }, stdio: ["ignore", "pipe", "pipe"] },
    );
    let output = "";
    child.stdout.on("data", (chunk: Buffer) => (output += chunk));
    child.stderr.on("data", (chunk: Buffer) => (output += chunk));
    child.on("close", (code) => resolve({ code, output }));
  });
}

/** Extensions that this server does not offer: tasks (the library has no runtime for them; jobs behind handles do their work) and skills. */
const NOT_OFFERED = /^✗ (tasks-|sep-2640-skills-)/;

describe("the official conformance suite", () => {
  it.each([
    ["2025-06-18", ["--suite", "all", "--spec-version", "2025-06-18"]],
    ["2025-11-25", ["--requirements", "2025-11-25"]],
    ["2026-07-28", ["--requirements", "2026-07-28"]],
  ])(
    "passes every scenario of revision %s",
    async (_revision, args) => {
      const { code, output } = await suite(...args);
      const results = output.split("\n").filter((line) => /^[✓✗] \S+: \d+ passed/.test(line));
      const failed = results.filter((line) => line.startsWith("✗") && !NOT_OFFERED.test(line));
      expect(failed, output.slice(-6000)).toEqual([]);
      expect(results.length).toBeGreaterThan(20);
      expect(code).toBe(0);
    },
    600_000,
  );
});
