import { createApp } from "../app.ts";
import { asFault, Fault } from "../base/fault.ts";
import type { Loaded } from "../config/load.ts";
import { effectiveValues } from "../config/show.ts";
import { faultText } from "../core/reply.ts";
import { createAuth, createGuards, createHttpApp, createLimits, isLoopback, listen } from "../transports/http/index.ts";
import { createMcpServer } from "../transports/mcp.ts";
import type { Invocation } from "./command.ts";
import { loadFor } from "./where.ts";

type Serving = ReturnType<typeof assemble>;

/** Serves until a signal ends it. SIGHUP reads the configuration again: all of it is taken, or none. */
export async function serveHttp(loaded: Loaded, invocation: Invocation): Promise<number> {
  let serving = assemble(loaded);
  await serving.app.shared?.ready(new AbortController().signal);
  const { server, limits, tools } = loaded.config.mcp;
  const current: Parameters<typeof listen>[0] = {
    fetch: (request, env) => serving.http.fetch(request, env as never),
    plain: (incoming, outgoing) => serving.http.plain(incoming, outgoing),
  };
  const listening = await listen(current, server, limits, tools.idle_timeout);
  const { log } = serving.app.telemetry;
  for (const warning of serving.app.warnings()) log.warn(warning);
  log.info("llmc serves on http", { url: listening.url, mode: serving.app.mode.name, config: effectiveValues(loaded) });
  invocation.terminal.err(`LLMC is serving ${loaded.root} at ${listening.url} (MCP at /mcp). Ctrl-C ends it.\n`);

  process.on("SIGHUP", () => {
    const before = serving;
    serving = reloaded(before, invocation);
    if (serving !== before) void retire(before);
  });
  await stopped();
  log.info("stopping", { calls_under_way: serving.app.dispatch.busy() });
  const closed = listening.close(serving.app.loaded.config.mcp.tools.idle_timeout * 1000);
  await serving.app.drain();
  await serving.http.close();
  await closed;
  await serving.app.close();
  return 0;
}

function assemble(loaded: Loaded) {
  const { mcp } = loaded.config;
  const app = createApp(loaded);
  const http = createHttpApp({
    auth: createAuth(mcp.auth, loaded.env, isLoopback(mcp.server.host)),
    limits: createLimits(mcp.limits, app.shared?.open),
    http_limits: mcp.limits,
    guard: createGuards(mcp.server),
    dispatch: app.dispatch,
    log: app.telemetry.log,
    version: app.version,
    config_version: mcp.config_version,
    token_header: mcp.auth.header,
    metrics_path: mcp.observability.metrics_prometheus_enabled ? mcp.observability.metrics_path : undefined,
    metrics: () => app.telemetry.prometheus(),
    health: app.health,
    is_replica: app.shared !== undefined,
    isDraining: app.isDraining,
    listAll: app.listAll,
    // A message to an agent is answered with context where there is a tool to find it, and it is wanted.
    hasTool: (name) => app.hasTool(name) && (name !== "rag_search" || mcp.rag.jit_context_enabled),
    serverFor: (caller) =>
      createMcpServer(
        {
          version: app.version,
          instructions: app.instructions,
          dispatch: app.dispatch,
          resources: app.resources,
          structured: mcp.output.structured,
          tools: app.tools,
        },
        caller,
      ),
  });
  return { app, http };
}

/** Keys that a listening socket cannot change under way. */
const FIXED = [
  "mcp.server.host",
  "mcp.server.port",
  "mcp.server.tls_enabled",
  "mcp.server.tls_cert",
  "mcp.server.tls_key",
  "mcp.limits.max_header_bytes",
];

function reloaded(before: Serving, invocation: Invocation): Serving {
  const { log } = before.app.telemetry;
  try {
    const loaded = loadFor(invocation);
    const changes = difference(effectiveValues(before.app.loaded), effectiveValues(loaded));
    const fixed = Object.keys(changes).filter((key) => FIXED.includes(key));
    if (fixed.length > 0)
      throw new Fault("invalid_args", `${fixed.join(", ")} cannot change while serving.`, { hint: "Restart." });
    const after = assemble(loaded);
    log.info("the configuration was read again", { changes });
    return after;
  } catch (error) {
    log.error("the configuration was not read again: the old one stays", { reason: faultText(asFault(error)) });
    return before;
  }
}

function difference(
  before: Record<string, unknown>,
  after: Record<string, unknown>,
): Record<string, { from: unknown; to: unknown }> {
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const changed = keys.filter((key) => JSON.stringify(before[key]) !== JSON.stringify(after[key]));
  return Object.fromEntries(changed.map((key) => [key, { from: before[key] ?? null, to: after[key] ?? null }]));
}

/** Calls that began under the old configuration end under it. */
async function retire(old: Serving): Promise<void> {
  await old.app.drain();
  await old.http.close();
  await old.app.close();
}

function stopped(): Promise<void> {
  return new Promise((resolve) => {
    for (const name of ["SIGTERM", "SIGINT"] as const) process.once(name, () => resolve());
  });
}
