import { ProtocolError, ProtocolErrorCode, Server } from "@modelcontextprotocol/server";
import { asFault, Fault } from "../base/fault.ts";
import type { Principal } from "../base/principal.ts";
import type { SessionContext, Via } from "../core/context.ts";
import type { Dispatch } from "../core/dispatch.ts";
import { faultText, isObject } from "../core/reply.ts";
import { jobUri, type Resources } from "../tools/resources.ts";
import type { ListedTool } from "../tools/surface.ts";

export interface McpDeps {
  readonly version: string;
  readonly instructions: string;
  readonly dispatch: Dispatch;
  readonly resources: Resources;
  readonly structured: boolean;
  tools(): readonly ListedTool[];
}

export interface Caller {
  readonly principal: Principal;
  readonly via: Via;
  /** Globs of tools that it may call; all where absent. */
  readonly tools?: readonly string[];
  /** Names this conversation where the client names none. */
  readonly session_id: string;
}

/** The protocol's side of the house: lists what the mode shows, and hands every call to dispatch. Cheap to make. */
export function createMcpServer(deps: McpDeps, caller: Caller): Server {
  const server = new Server(
    { name: "llmc", version: deps.version },
    {
      capabilities: { tools: {}, resources: { subscribe: true } },
      instructions: deps.instructions,
      jsonSchemaValidator: NO_VALIDATOR,
    },
  );

  const watch = watchJobs(server, deps.resources, caller);

  server.setRequestHandler("tools/list", () => ({ tools: deps.tools() as ListedTool[] }));

  server.setRequestHandler("tools/call", async (request, ctx) => {
    const token = request.params._meta?.progressToken;
    let step = 0;
    const reply = await deps.dispatch({
      name: request.params.name,
      args: request.params.arguments,
      principal: caller.principal,
      via: caller.via,
      ...(caller.tools === undefined ? {} : { tools: caller.tools }),
      signal: ctx.mcpReq.signal,
      edge: "model",
      session: sessionFrom(ctx.mcpReq._meta, clientName(server, ctx.mcpReq.envelope), caller.session_id),
      ...(token === undefined
        ? {}
        : {
            progress: (message: string, done?: number, total?: number) => {
              step = Math.max(step + 1e-6, done ?? step + 1);
              const params = {
                progressToken: token,
                progress: step,
                message,
                ...(total === undefined ? {} : { total }),
              };
              void ctx.mcpReq.notify({ method: "notifications/progress", params }).catch(() => {});
            },
          }),
    });
    const content = [{ type: "text" as const, text: reply.text }];
    if (!reply.ok) return { content, isError: true };
    watch.handedOver(reply.payload);
    return deps.structured && isObject(reply.payload) ? { content, structuredContent: reply.payload } : { content };
  });

  server.setRequestHandler("resources/list", () => ({ resources: [...deps.resources.list] }));
  server.setRequestHandler("resources/templates/list", () => ({ resourceTemplates: [...deps.resources.templates] }));
  server.setRequestHandler("resources/read", async (request) => ({
    contents: [await resource(deps.resources, caller, request.params.uri)],
  }));
  server.setRequestHandler("resources/subscribe", (request) => watch.begin(request.params.uri));
  server.setRequestHandler("resources/unsubscribe", (request) => watch.end(request.params.uri));
  return server;
}

/** We never ask a client for input, so nothing is ever validated against a schema of ours; the default would load a whole validator. */
const NO_VALIDATOR = {
  getValidator() {
    throw new Fault("internal_error", "This server validates in dispatch.");
  },
};

/**
 * Tells a client when a job that it watches has ended. The newest revision has no subscribe request: there every job that was handed
 * over on this connection is told of, and the library passes on what the client listens for.
 */
function watchJobs(server: Server, resources: Resources, caller: Caller) {
  const watched = new Map<string, AbortController>();
  const begin = (uri: string): Record<string, never> => {
    if (watched.has(uri)) return {};
    const control = new AbortController();
    const ended = resources.ended(caller.principal, uri, control.signal);
    if (!ended) return {};
    watched.set(uri, control);
    void ended
      .then(() => (control.signal.aborted ? undefined : server.sendResourceUpdated({ uri })))
      .catch(() => {})
      .finally(() => watched.delete(uri));
    return {};
  };
  const end = (uri: string): Record<string, never> => {
    watched.get(uri)?.abort();
    return {};
  };
  server.onclose = () => {
    for (const control of watched.values()) control.abort();
  };
  return {
    begin,
    end,
    handedOver(payload: unknown): void {
      const isJob = isObject(payload) && payload["state"] === "running" && typeof payload["handle"] === "string";
      if (isJob && server.getNegotiatedProtocolVersion() === STATELESS) begin(jobUri(payload["handle"] as string));
    },
  };
}

const STATELESS = "2026-07-28";

async function resource(resources: Resources, caller: Caller, uri: string) {
  try {
    return await resources.read(caller.principal, uri);
  } catch (error) {
    const fault = asFault(error);
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, faultText(fault), { uri });
  }
}

const META_PREFIX = "llmc/";

/** What the client told about this call: `_meta["llmc/agent_id"]` and its sisters, else the client's own name. */
function sessionFrom(
  meta: Readonly<Record<string, unknown>> | undefined,
  client: string | undefined,
  session_id: string,
): Partial<SessionContext> {
  const told = (field: string): string | undefined => {
    const value = meta?.[META_PREFIX + field];
    return typeof value === "string" ? value.slice(0, 200) : undefined;
  };
  const agent_id = told("agent_id") ?? client;
  const model = told("model");
  const budget_profile = told("budget_profile");
  return {
    session_id: told("session_id") ?? session_id,
    ...(agent_id === undefined ? {} : { agent_id }),
    ...(model === undefined ? {} : { model }),
    ...(budget_profile === undefined ? {} : { budget_profile }),
  };
}

function clientName(server: Server, envelope: Readonly<Record<string, unknown>> | undefined): string | undefined {
  const info = envelope?.["io.modelcontextprotocol/clientInfo"];
  if (isObject(info) && typeof info["name"] === "string") return info["name"].slice(0, 200);
  return server.getClientVersion()?.name.slice(0, 200);
}
