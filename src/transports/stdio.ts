import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { sessionId } from "../base/ids.ts";
import { mintPrincipal } from "../base/principal.ts";
import { LineTransport } from "./line-transport.ts";
import { createMcpServer, type McpDeps } from "./mcp.ts";

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
  const handle = serveStdio(() => createMcpServer(deps, caller), { transport, onerror: deps.onProtocolError });
  const ended = transport.onclose;
  const closed = new Promise<void>((resolve) => {
    transport.onclose = () => {
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

/** A client can die and leave its pipe to a sibling: then stdin never ends, but our parent changes. */
function watchParent(gone: () => void): NodeJS.Timeout {
  const parent = process.ppid;
  return setInterval(() => {
    if (process.ppid !== parent) gone();
  }, 500).unref();
}
