import type { Server } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { sessionId } from "../base/ids.ts";
import { mintPrincipal } from "../base/principal.ts";
import { createDirect } from "./direct.ts";
import { LineTransport } from "./line-transport.ts";
import { clientName, createMcpServer, type McpDeps, STATELESS } from "./mcp.ts";
import { callTool } from "./tool-call.ts";

interface StdioDeps extends McpDeps {
  readonly max_request_bytes: number;
  onProtocolError(error: Error): void;
}

export interface StdioConnection {
  /** Resolves when the first answer is out, or when nobody asked for a while. */
  readonly greeted: Promise<void>;
  /** Resolves when the client is gone. */
  readonly closed: Promise<void>;
  close(): Promise<void>;
}

const PATIENCE_MS = 300;

/** One client on stdin and stdout, of any protocol revision. It ends with its client: when stdin ends, or the parent dies. */
export function serveOnStdio(deps: StdioDeps): StdioConnection {
  const transport = new LineTransport({
    input: process.stdin,
    output: process.stdout,
    max_line_bytes: deps.max_request_bytes,
  });
  const caller = {
    principal: mintPrincipal("local", process.getuid?.() ?? 0),
    via: "stdio" as const,
    session_id: sessionId(),
  };
  let server: Server | undefined;
  const make = () => (server = createMcpServer(deps, caller));
  const handle = serveStdio(make, { transport, onerror: deps.onProtocolError });
  const direct = createDirect({
    isOpen: () => isLegacy(server?.getNegotiatedProtocolVersion()),
    client: () => clientName(server!),
    call: async (call) => (await callTool(deps, caller, call)).result,
    send: (message) => transport.send(message),
  });
  const toLibrary = transport.onmessage;
  transport.onmessage = (message) => {
    if (!direct.take(message)) toLibrary?.(message);
  };
  const ended = transport.onclose;
  const closed = new Promise<void>((resolve) => {
    transport.onclose = () => {
      direct.close();
      ended?.();
      resolve();
    };
  });
  const greeted = new Promise<void>((resolve) => {
    transport.onfirst = () => setTimeout(resolve, 10);
    setTimeout(resolve, PATIENCE_MS).unref();
  });
  const watch = watchParent(() => void transport.close());
  void closed.then(() => clearInterval(watch));
  return { greeted, closed, close: () => handle.close() };
}

/** Negotiated by `initialize`, once for the connection; in the newest revision every request carries an envelope of its own. */
function isLegacy(version: string | undefined): boolean {
  return version !== undefined && version !== STATELESS;
}

/** A client can die and leave its pipe to a sibling: then stdin never ends, but our parent changes. */
function watchParent(gone: () => void): NodeJS.Timeout {
  const parent = process.ppid;
  return setInterval(() => {
    if (process.ppid !== parent) gone();
  }, 500).unref();
}
