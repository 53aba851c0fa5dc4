import {
  createMcpHandler,
  isLegacyRequest,
  legacyStatelessFallback,
  type McpServer,
  type Server,
  type ServerNotifier,
} from "@modelcontextprotocol/server";
import type { Caller as McpCaller } from "../tool-call.ts";
import type { Caller } from "./auth.ts";
import { readBody } from "./body.ts";
import { json } from "./rest.ts";
import { createSessions, type Sessions } from "./sessions.ts";

export interface McpEndpoint {
  /** `chunks`: the body, as it arrives. */
  handle(request: Request, caller: Caller, chunks: AsyncIterable<Uint8Array>): Promise<Response>;
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
  /** False among replicas: the next request may come to another one, so none is tied to a session of the protocol. */
  readonly has_sessions: boolean;
  onerror(error: Error): void;
}

/** Without a session of the protocol, what a caller keeps (a sandbox session) is kept for the caller as such. */
const NO_SESSION = "";

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

  const modern = createMcpHandler((context) => serverOf(callerIn(context.authInfo), NO_SESSION), {
    legacy: "reject",
    onerror: deps.onerror,
    ...limit,
  });
  const stateless = legacyStatelessFallback(
    (context) => serverOf(callerIn(context.authInfo), NO_SESSION),
    deps.onerror,
    limit,
  );

  /** GET and DELETE without a session. */
  async function unparsed(request: Request, authInfo: ReturnType<typeof infoOf>): Promise<Response> {
    return (await isLegacyRequest(request, undefined, limit))
      ? stateless(request, { authInfo })
      : modern.fetch(request, { authInfo });
  }

  return {
    sessions,
    notify: modern.notify,
    async handle(request, caller, chunks) {
      const authInfo = infoOf(caller);
      const id = deps.has_sessions ? request.headers.get("mcp-session-id") : null;
      const session = id === null ? undefined : sessions.find(id, caller.principal);
      if (id !== null && !session) return noSession();
      if (request.method !== "POST")
        return session ? session.handleRequest(request, { authInfo }) : unparsed(request, authInfo);
      // Read once, for whoever answers: the library would read and parse it for each decision.
      const parsedBody = parsed(await readBody(request.headers, chunks, deps.max_request_bytes));
      if (parsedBody === undefined) return notJson();
      if (Array.isArray(parsedBody)) return batch();
      if (session) return session.handleRequest(request, { authInfo, parsedBody });
      if (!(await isLegacyRequest(request, parsedBody, limit))) return modern.fetch(request, { authInfo, parsedBody });
      if (!deps.has_sessions || (parsedBody as { method?: unknown } | null)?.method !== "initialize")
        return stateless(request, { authInfo, parsedBody });
      const opened = await sessions.open(caller.principal, (name) => serverOf(caller, name));
      return opened.handleRequest(request, { authInfo, parsedBody });
    },
    async close() {
      await sessions.close();
      await modern.close();
    },
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
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
  return refusal(404, -32001, "Session not found");
}

function notJson(): Response {
  return refusal(400, -32700, "Parse error: the body is not JSON");
}

/** No revision that is served has batches, and a hundred calls in one would count as one against the caller's limits. */
function batch(): Response {
  return refusal(400, -32600, "Invalid request: send one message at a time, not a batch");
}

function refusal(status: number, code: number, message: string): Response {
  return json({ jsonrpc: "2.0", id: null, error: { code, message } }, status);
}
