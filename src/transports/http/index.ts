/** MCP and plain JSON over HTTP: one process for several callers. */
import { readFileSync } from "node:fs";
import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { Fault } from "../../base/fault.ts";
import type { HttpLimits, ServerOptions } from "./options.ts";
import type { Plain } from "./plain.ts";

export { createHttpApp, type HttpDeps } from "./app.ts";
export { createAuth } from "./auth.ts";
export { createGuards, isLoopback } from "./guards.ts";
export { createLimits } from "./limits.ts";
export { RATES } from "./shared-rate.ts";

export interface Listening {
  readonly url: string;
  /** No new connections; those under way end by themselves or after the time given. */
  close(within_ms: number): Promise<void>;
}

type Fetch = (request: Request, env: { incoming: unknown; outgoing: unknown }) => Response | Promise<Response>;

export async function listen(
  app: { readonly fetch: Fetch; readonly plain: Plain },
  options: ServerOptions,
  limits: HttpLimits,
  idle_timeout_s: number,
): Promise<Listening> {
  const settings = {
    maxHeaderSize: limits.max_header_bytes,
    keepAliveTimeout: idle_timeout_s * 1000,
    headersTimeout: 15_000,
    requestTimeout: 60_000,
  };
  const framework = getRequestListener(app.fetch as never);
  const listener: RequestListener = (incoming, outgoing) => {
    if (!app.plain(incoming, outgoing)) void framework(incoming, outgoing);
  };
  const server: Server = options.tls_enabled
    ? createTlsServer({ ...settings, ...certificate(options) }, listener)
    : createServer(settings, listener);
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => reject(cannotListen(error, options)));
    server.listen(options.port, options.host, resolve);
  });
  const { port } = server.address() as AddressInfo;
  const host = options.host.includes(":") ? `[${options.host}]` : options.host;
  return {
    url: `${options.tls_enabled ? "https" : "http"}://${host}:${port}`,
    close: (within_ms) =>
      new Promise((resolve) => {
        const force = setTimeout(() => server.closeAllConnections(), within_ms);
        // A client keeps its connection after its answer came: it is idle then, and goes.
        const idle = setInterval(() => server.closeIdleConnections(), 50);
        server.close(() => {
          clearTimeout(force);
          clearInterval(idle);
          resolve();
        });
      }),
  };
}

function certificate(options: ServerOptions): { cert: Buffer; key: Buffer } {
  const read = (key: "tls_cert" | "tls_key"): Buffer => {
    const path = options[key];
    if (path === undefined) throw new Fault("invalid_args", `mcp.server.tls_enabled needs mcp.server.${key}.`);
    try {
      return readFileSync(path);
    } catch (cause) {
      throw new Fault("file_not_found", `mcp.server.${key} cannot be read: ${path}`, { cause });
    }
  };
  return { cert: read("tls_cert"), key: read("tls_key") };
}

function cannotListen(error: NodeJS.ErrnoException, options: ServerOptions): Fault {
  const place = `${options.host}:${options.port}`;
  if (error.code === "EADDRINUSE")
    return new Fault("invalid_args", `Port ${options.port} is in use on ${options.host}.`, {
      hint: "Stop the other server, or use --port.",
      cause: error,
    });
  if (error.code === "EACCES")
    return new Fault("permission_denied", `This user may not listen on ${place}.`, {
      hint: "Use a port above 1023.",
      cause: error,
    });
  return new Fault("invalid_args", `Cannot listen on ${place}: ${error.code ?? error.message}.`, { cause: error });
}
