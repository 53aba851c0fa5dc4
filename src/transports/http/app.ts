import type { IncomingMessage, ServerResponse } from "node:http";
import type { McpServer, Server } from "@modelcontextprotocol/server";
import { Hono } from "hono";
import { asFault, Fault } from "../../base/fault.ts";
import { correlationId } from "../../base/ids.ts";
import type { Health } from "../../core/context.ts";
import type { Dispatch } from "../../core/dispatch.ts";
import type { Log } from "../../engines/telemetry/index.ts";
import type { ListedTool } from "../../tools/surface.ts";
import type { Caller as McpCaller } from "../tool-call.ts";
import type { Auth, Caller } from "./auth.ts";
import { chunksOf, readBody } from "./body.ts";
import { type HeaderList, ID_HEADER } from "./headers.ts";
import type { Limits } from "./limits.ts";
import { createMcpEndpoint, type McpEndpoint } from "./mcp-endpoint.ts";
import { openApi } from "./openapi.ts";
import type { HttpLimits } from "./options.ts";
import { createPlain, hangUp, type Plain } from "./plain.ts";
import { answerId, faultAnswer, json, jsonAnswer, ROUTES, responseOf, runRoute } from "./rest.ts";

export interface HttpDeps {
  readonly auth: Auth;
  readonly limits: Limits;
  readonly http_limits: HttpLimits;
  /** Throws when Host or Origin is not ours. */
  guard(headers: HeaderList): void;
  readonly dispatch: Dispatch;
  readonly log: Log;
  readonly version: string;
  readonly config_version: string;
  readonly token_header: string;
  /** undefined: no metrics endpoint. */
  readonly metrics_path: string | undefined;
  metrics(): Promise<string>;
  health(): Promise<Health>;
  isDraining(): boolean;
  /** Every enabled tool, for the description of the endpoints. */
  listAll(): readonly ListedTool[];
  hasTool(name: string): boolean;
  /** Others serve the same callers. */
  readonly is_replica: boolean;
  serverFor(caller: McpCaller): Server | McpServer;
}

interface Env {
  Bindings: { readonly incoming?: IncomingMessage; readonly outgoing?: ServerResponse };
  Variables: { id: string };
}

const SESSION_IDLE_MS = 30 * 60_000;

export interface HttpApp {
  /** All of HTTP as a function from request to response: no socket is needed to test it. */
  readonly fetch: Hono<Env>["fetch"];
  /** The short way for small calls, asked first. */
  readonly plain: Plain;
  readonly mcp: McpEndpoint;
  close(): Promise<void>;
}

export function createHttpApp(deps: HttpDeps): HttpApp {
  const mcp = createMcpEndpoint({
    serverFor: deps.serverFor,
    max_request_bytes: deps.http_limits.max_request_bytes,
    max_sessions_per_principal: deps.http_limits.max_sessions_per_principal,
    session_idle_ms: SESSION_IDLE_MS,
    has_sessions: !deps.is_replica,
    onerror: (error) => deps.log.warn("protocol error", { reason: error.message.slice(0, 200) }),
  });
  const app = new Hono<Env>();

  app.use(async (context, next) => {
    const id = answerId(context.req.raw.headers);
    context.set("id", id);
    deps.guard(context.req.raw.headers);
    if (deps.isDraining()) throw new Fault("draining", "The server is stopping.", { retry_after_s: 5 });
    await next();
    context.res.headers.set(ID_HEADER, id);
  });

  app.onError((error, context) => {
    const id = context.get("id") ?? correlationId();
    const fault = asFault(error);
    if (fault.code === "internal_error") deps.log.error("internal error", { correlation_id: id, cause: error.stack });
    const response = responseOf(faultAnswer(fault, id));
    response.headers.set(ID_HEADER, id);
    if (fault.code === "auth_failed") response.headers.set("www-authenticate", challenge(context.req.url));
    return response;
  });
  app.notFound((context) =>
    responseOf(
      faultAnswer(
        new Fault("file_not_found", "There is no such endpoint.", { hint: "GET /openapi.json lists them." }),
        context.get("id"),
      ),
    ),
  );

  /** Knows who calls, counts the request, and lets the place go when the answer is out. */
  async function admitted(
    request: Request,
    address: string,
    work: (caller: Caller) => Promise<Response>,
  ): Promise<Response> {
    const caller = await identified(request, address);
    const leave = await deps.limits.enter(caller.principal);
    try {
      const response = await work(caller);
      if (request.method === "GET" && isStream(response)) {
        leave();
        return whenDone(response, deps.limits.openStream(caller.principal));
      }
      return isStream(response) ? whenDone(response, leave) : leaving(response, leave);
    } catch (error) {
      leave();
      throw error;
    }
  }

  async function identified(request: Request, address: string): Promise<Caller> {
    try {
      return deps.auth.identify(request.headers);
    } catch (error) {
      deps.log.warn("a caller was refused", { address, error_code: asFault(error).code });
      await deps.limits.failed(address);
      throw error;
    }
  }

  const addressOf = (env: Env["Bindings"] | undefined) => env?.incoming?.socket.remoteAddress ?? "local";

  app.get("/health", async (context) => {
    const caller = deps.auth.identifyIfAny(context.req.raw.headers);
    if (!caller) return json({ ok: true, version: deps.config_version, server_version: deps.version });
    return json(await deps.health());
  });
  app.get("/openapi.json", (context) =>
    admitted(context.req.raw, addressOf(context.env), async () =>
      json(openApi(deps.version, deps.listAll(), deps.token_header)),
    ),
  );
  app.get("/.well-known/oauth-protected-resource/*", (context) => json(metadata(context.req.url)));
  app.get("/.well-known/oauth-protected-resource", (context) => json(metadata(context.req.url)));
  if (deps.metrics_path !== undefined)
    app.get(deps.metrics_path, (context) =>
      admitted(
        context.req.raw,
        addressOf(context.env),
        async () =>
          new Response(await deps.metrics(), {
            headers: { "content-type": "text/plain; version=0.0.4; charset=utf-8" },
          }),
      ),
    );
  const { max_request_bytes } = deps.http_limits;
  for (const route of ROUTES)
    app.post(route.path, ({ req, env, get }) =>
      admitted(req.raw, addressOf(env), async (caller) => {
        const text = await readBody(req.raw.headers, chunksOf(req.raw, env?.incoming), max_request_bytes);
        const call = { signal: hangUp(env?.outgoing), caller, correlation_id: get("id") };
        return responseOf(jsonAnswer(await runRoute(route, text, call, deps)));
      }),
    );
  app.all("/mcp", (context) =>
    admitted(context.req.raw, addressOf(context.env), (caller) =>
      mcp.handle(context.req.raw, caller, chunksOf(context.req.raw, context.env?.incoming)),
    ),
  );

  return { fetch: app.fetch, plain: createPlain(deps), mcp, close: () => mcp.close() };
}

/** RFC 9728: tells a client that this resource takes bearer tokens in a header, and that no server issues them. */
function metadata(url: string) {
  return { resource: new URL("/mcp", url).href, bearer_methods_supported: ["header"], resource_name: "LLMC" };
}

function challenge(url: string): string {
  return `Bearer realm="llmc", error="invalid_token", resource_metadata="${new URL("/.well-known/oauth-protected-resource/mcp", url).href}"`;
}

function isStream(response: Response): boolean {
  return response.headers.get("content-type")?.startsWith("text/event-stream") ?? false;
}

function leaving(response: Response, leave: () => void): Response {
  leave();
  return response;
}

/** A stream holds its place until it ends or is given up. */
function whenDone(response: Response, leave: () => void): Response {
  if (!response.body) return leaving(response, leave);
  const reader = response.body.getReader();
  const body = new ReadableStream<Uint8Array>({
    async pull(control) {
      const { done, value } = await reader.read();
      if (!done) return control.enqueue(value);
      leave();
      control.close();
    },
    async cancel(reason) {
      leave();
      await reader.cancel(reason);
    },
  });
  return new Response(body, { status: response.status, headers: response.headers });
}
