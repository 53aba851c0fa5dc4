import { createApp } from "../app.ts";
import { Fault } from "../base/fault.ts";
import { serveOnStdio } from "../transports/stdio.ts";
import type { Invocation } from "./command.ts";
import { loadFor } from "./where.ts";

export async function run(invocation: Invocation): Promise<number> {
  const loaded = loadFor(invocation);
  if (!loaded.config.mcp.enabled)
    throw new Fault(
      "invalid_args",
      `mcp.enabled is false in ${loaded.file ?? "the environment"}: this server is switched off.`,
      { hint: "Set it to true to serve." },
    );

  if (invocation.flags["http"]) return (await import("./serve-http.ts")).serveHttp(loaded, invocation);
  const app = createApp(loaded);
  await app.shared?.ready(new AbortController().signal);
  const connection = serveOnStdio({
    version: app.version,
    instructions: app.instructions,
    dispatch: app.dispatch,
    resources: app.resources,
    structured: loaded.config.mcp.output.structured,
    tools: app.tools,
    max_request_bytes: loaded.config.mcp.limits.max_request_bytes,
    onProtocolError: (error) => app.telemetry.log.warn("protocol error", { reason: error.message.slice(0, 200) }),
  });
  process.on("unhandledRejection", (reason) =>
    app.telemetry.log.error("unhandled rejection", { reason: reason instanceof Error ? reason.stack : typeof reason }),
  );
  // The first answer comes before the first log record: loading the log costs as much as the rest of a start.
  const told = Promise.race([connection.greeted, connection.closed]).then(() => tellStart(app, invocation));
  const stop = await Promise.race([connection.closed, signalled()]);
  if (stop !== undefined) {
    app.telemetry.log.info("stopping", { signal: stop, calls_under_way: app.dispatch.busy() });
    await app.drain(connection.closed);
  }
  await told;
  await connection.close();
  await app.close();
  return 0;
}

function signalled(): Promise<string> {
  return new Promise((resolve) => {
    for (const name of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.once(name, () => resolve(name));
  });
}

async function tellStart(app: ReturnType<typeof createApp>, invocation: Invocation): Promise<void> {
  const { log } = app.telemetry;
  const isByHand = process.stdin.isTTY || invocation.flags["welcome"] === true;
  for (const warning of app.warnings()) log.warn(warning);
  log.info("llmc serves on stdio", {
    version: app.version,
    mode: app.mode.name,
    tools: app.tools().length,
    root_by: app.loaded.root_by,
    // A person at a terminal reads it better with `llmc config show`.
    ...(isByHand ? {} : { config: (await import("../config/show.ts")).effectiveValues(app.loaded) }),
  });
  if (!isByHand) return;
  const { welcome } = await import("./welcome.ts");
  await log.flush();
  invocation.terminal.err(welcome(app.loaded.root));
}
