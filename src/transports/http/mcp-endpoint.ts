import {
  createMcpHandler,
  isLegacyRequest,
  legacyStatelessFallback,
  type McpServer,
  type Server,
  type ServerNotifier,
} from "@modelcontextprotocol/server";
import { sessionId } from "../../base/ids.ts";
import type { Caller as McpCaller } from "../mcp.ts";
import type { Caller } from "./auth.ts";
import { refuseEncoded } from "./body.ts";
import { createSessions, type Sessions } from "./sessions.ts";

export interface McpEndpoint {
  handle(request: Request, caller: Caller): Promise<Response>;
  readonly sessions: Sessions;
  /** Tells clients of the newest revision, which listen on a stream of their own, that something changed. */
  readonly notify: ServerNotifier;
  close(): Promise<void>;
}

interface EndpointDeps {
  /** A protocol server for one request or one session of this caller. */
  serverFor(caller: McpCaller): Server | McpServer;
  readonly max_request_bytes: number;
  readonly max_sessions_per_principal: number;
  readonly session_idle_ms: number;
  onerror(error: Error): void;
}

/**
 * `/mcp` for every revision: the newest is stateless, one server a request; the older ones have a session when they ask for
 * one with `initialize`, and go without when they send no session id.
 */
export function createMcpEndpoint(deps: EndpointDeps): McpEndpoint {
  const limit = { maxRequestBodySize: deps.max_request_bytes };
  const sessions = createSessions({
    max_per_principal: deps.max_sessions_per_principal,
    max_request_bytes: deps.max_request_bytes,
    idle_ms: deps.session_idle_ms,
  });
  const serverOf = (caller: Caller, session_id: string) =>
    deps.serverFor({ principal: caller.principal, tools: caller.tools, via: "http", session_id });

  const modern = createMcpHandler((context) => serverOf(callerIn(context.authInfo), sessionId()), {
    legacy: "reject",
    onerror: deps.onerror,
    ...limit,
  });
  const stateless = legacyStatelessFallback(
    (context) => serverOf(callerIn(context.authInfo), sessionId()),
    deps.onerror,
    limit,
  );

  return {
    sessions,
    notify: modern.notify,
    async handle(request, caller) {
      refuseEncoded(request.headers);
      const authInfo = infoOf(caller);
      const id = request.headers.get("mcp-session-id");
      if (id !== null)
        return (await sessions.find(id, caller.principal)?.handleRequest(request, { authInfo })) ?? noSession();
      if (!(await isLegacyRequest(request, undefined, limit))) return modern.fetch(request, { authInfo });
      if (!(await isInitialize(request))) return stateless(request, { authInfo });
      const transport = await sessions.open(caller.principal, (session) => serverOf(caller, session));
      return transport.handleRequest(request, { authInfo });
    },
    async close() {
      await sessions.close();
      await modern.close();
    },
  };
}

async function isInitialize(request: Request): Promise<boolean> {
  if (request.method !== "POST") return false;
  try {
    const body: unknown = await request.clone().json();
    return (body as { method?: unknown } | null)?.method === "initialize";
  } catch {
    return false;
  }
}

/** The library carries who calls as its own auth info; ours rides inside. */
function infoOf(caller: Caller) {
  return { token: "", clientId: caller.principal, scopes: [...caller.tools], extra: { caller } };
}

function callerIn(info: { readonly extra?: Record<string, unknown> } | undefined): Caller {
  return info!.extra!["caller"] as Caller;
}

function noSession(): Response {
  return Response.json(
    { jsonrpc: "2.0", id: null, error: { code: -32001, message: "Session not found" } },
    { status: 404 },
  );
}
