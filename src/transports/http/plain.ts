import type { IncomingMessage, ServerResponse } from "node:http";
import { asFault, Fault } from "../../base/fault.ts";
import type { Log } from "../../engines/telemetry/index.ts";
import type { Auth, Caller } from "./auth.ts";
import { type HeaderList, singleHeaders } from "./headers.ts";
import type { Limits } from "./limits.ts";
import type { HttpLimits } from "./options.ts";
import { type Answer, answerId, faultAnswer, jsonAnswer, type RestDeps, ROUTES, type Route, runRoute } from "./rest.ts";

interface PlainDeps extends RestDeps {
  readonly auth: Auth;
  readonly limits: Limits;
  readonly log: Log;
  guard(headers: HeaderList): void;
  isDraining(): boolean;
  readonly http_limits: Pick<HttpLimits, "max_request_bytes">;
}

/** Answers the request, or gives false and has touched nothing. */
export type Plain = (incoming: IncomingMessage, outgoing: ServerResponse) => boolean;

/** A call is a line or two; whatever is larger can pay for the framework. */
const SMALL_BYTES = 64 * 1024;

/**
 * The plain JSON endpoints straight on Node's request and response: the web's objects in between take longer than a small call.
 * Only a request that is admitted goes this way. The framework answers all others, and so there is one place that refuses.
 */
export function createPlain(deps: PlainDeps): Plain {
  const routes = new Map(ROUTES.map((route) => [route.path, route]));

  async function answer(route: Route, request: Admitted, outgoing: ServerResponse): Promise<void> {
    const { incoming, headers, caller } = request;
    const correlation_id = answerId(headers);
    let leave: (() => void) | undefined;
    try {
      leave = await deps.limits.enter(caller.principal);
      const body = await small(incoming);
      const signal = hangUp(outgoing);
      const text = await runRoute(route, body, { signal, caller, correlation_id }, deps);
      send(outgoing, correlation_id, jsonAnswer(text));
    } catch (error) {
      const fault = asFault(error);
      if (fault.code === "internal_error") deps.log.error("internal error", { correlation_id, cause: stackOf(error) });
      send(outgoing, correlation_id, faultAnswer(fault, correlation_id));
    } finally {
      leave?.();
    }
  }

  return (incoming, outgoing) => {
    const route = incoming.method === "POST" ? routes.get(incoming.url ?? "") : undefined;
    const request = route && admitted(incoming, deps);
    if (!request) return false;
    void answer(route, request, outgoing);
    return true;
  };
}

interface Admitted {
  readonly incoming: IncomingMessage;
  readonly headers: HeaderList;
  readonly caller: Caller;
}

function admitted(incoming: IncomingMessage, deps: PlainDeps): Admitted | undefined {
  const headers = singleHeaders(incoming.rawHeaders);
  if (!headers || !isSmall(headers, deps.http_limits.max_request_bytes) || deps.isDraining()) return undefined;
  try {
    deps.guard(headers);
    return { incoming, headers, caller: deps.auth.identify(headers) };
  } catch {
    return undefined;
  }
}

/** A body of a length that was told and is held to by the parser, as it is. */
function isSmall(headers: HeaderList, max_bytes: number): boolean {
  const length = headers.get("content-length");
  if (length === null || Number(length) > Math.min(SMALL_BYTES, max_bytes)) return false;
  return headers.get("content-encoding") === null && headers.get("expect") === null;
}

function small(incoming: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    incoming.on("data", (part: Buffer) => parts.push(part));
    incoming.on("end", () => resolve((parts.length === 1 ? parts[0]! : Buffer.concat(parts)).toString("utf8")));
    incoming.on("error", () => reject(new Fault("invalid_args", "The body ended early.")));
  });
}

/** Aborts when the connection ends before the answer did. */
export function hangUp(outgoing: ServerResponse | undefined): AbortSignal {
  const control = new AbortController();
  if (outgoing?.destroyed) control.abort();
  outgoing?.once("close", () => {
    if (!outgoing.writableFinished) control.abort();
  });
  return control.signal;
}

function send(outgoing: ServerResponse, id: string, { status, headers, body }: Answer): void {
  outgoing.writeHead(status, { ...headers, "x-correlation-id": id, "content-length": Buffer.byteLength(body) });
  outgoing.end(body);
}

function stackOf(error: unknown): string | undefined {
  return error instanceof Error ? error.stack : undefined;
}
