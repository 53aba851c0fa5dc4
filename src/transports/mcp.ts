import { ProtocolError, ProtocolErrorCode, Server } from "@modelcontextprotocol/server";
import { asFault, Fault } from "../base/fault.ts";
import type { Dispatch } from "../core/dispatch.ts";
import { faultText, isObject } from "../core/reply.ts";
import { jobUri, type Resources } from "../tools/resources.ts";
import type { ListedTool } from "../tools/surface.ts";
import { type Caller, callTool } from "./tool-call.ts";

export interface McpDeps {
  readonly version: string;
  readonly instructions: string;
  readonly dispatch: Dispatch;
  readonly resources: Resources;
  readonly structured: boolean;
  tools(): readonly ListedTool[];
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
    const { result, reply } = await callTool(deps, caller, {
      name: request.params.name,
      args: request.params.arguments,
      meta: ctx.mcpReq._meta,
      client: clientName(server, ctx.mcpReq.envelope),
      signal: ctx.mcpReq.signal,
      progress: (params) => void ctx.mcpReq.notify({ method: "notifications/progress", params }).catch(() => {}),
    });
    if (reply.ok) watch.handedOver(reply.payload);
    return result;
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

export const STATELESS = "2026-07-28";

async function resource(resources: Resources, caller: Caller, uri: string) {
  try {
    return await resources.read(caller.principal, uri);
  } catch (error) {
    const fault = asFault(error);
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, faultText(fault), { uri });
  }
}

export function clientName(server: Server, envelope?: Readonly<Record<string, unknown>>): string | undefined {
  const info = envelope?.["io.modelcontextprotocol/clientInfo"];
  if (isObject(info) && typeof info["name"] === "string") return info["name"].slice(0, 200);
  return server.getClientVersion()?.name.slice(0, 200);
}
