import { asFault, FAULTS, Fault } from "../../base/fault.ts";
import type { Dispatch } from "../../core/dispatch.ts";
import { isObject } from "../../core/reply.ts";
import type { Caller } from "./auth.ts";
import { readJson } from "./body.ts";

interface RestDeps {
  readonly dispatch: Dispatch;
  readonly max_request_bytes: number;
  /** Whether a tool of this name can be called. */
  hasTool(name: string): boolean;
}

export interface RestCall {
  readonly headers: Headers;
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Aborts when the caller hangs up. */
  readonly signal: AbortSignal;
  readonly caller: Caller;
  readonly correlation_id: string;
}

interface Route {
  readonly path: string;
  readonly about: string;
  /** What the body must hold; all of them text but `args`. */
  readonly required: readonly string[];
  run(body: Record<string, unknown>, call: RestCall, deps: RestDeps): Promise<unknown>;
}

/** Every plain JSON endpoint. Each goes through dispatch, as every other caller does. */
export const ROUTES: readonly Route[] = [
  {
    path: "/tool",
    about: "Call a tool: {session_id, name, args}",
    required: ["name"],
    run: (body, call, deps) => viaDispatch(String(body["name"]), body["args"] ?? {}, body["session_id"], call, deps),
  },
  {
    path: "/invoke_agent",
    about: "Take a message for an agent; answers with context for it where there is an index",
    required: ["session_id", "role", "user_msg"],
    run: async (body, call, deps) => ({ text: RECEIVED, ...(await contextFor(body, call, deps)) }),
  },
  {
    path: "/rag/search",
    about: "Search the index: {q, scope, k, budget_tokens}",
    required: ["q"],
    run: (body, call, deps) => viaDispatch("rag_search", body, undefined, call, deps),
  },
  {
    path: "/rag/bootload",
    about: "What to know before a task: {session_id, task_id}",
    required: ["session_id", "task_id"],
    run: (body, call, deps) => viaDispatch("rag_bootload", body, undefined, call, deps),
  },
];

const RECEIVED = "[MCP v0] received; use /rag/search for pre-call context";

/** What the index knows about the message, when the caller brought no context of its own. */
async function contextFor(
  body: Record<string, unknown>,
  call: RestCall,
  deps: RestDeps,
): Promise<{ context?: unknown }> {
  if (body["inject_context"] || !deps.hasTool("rag_search")) return {};
  return { context: await viaDispatch("rag_search", { q: body["user_msg"] }, body["session_id"], call, deps) };
}

export async function runRoute(route: Route, call: RestCall, deps: RestDeps): Promise<Response> {
  const body = await readJson(call.headers, call.chunks, deps.max_request_bytes);
  if (!isObject(body)) throw new Fault("invalid_args", "The body must be a JSON object.");
  const missing = route.required.find((name) => typeof body[name] !== "string");
  if (missing !== undefined)
    throw new Fault("invalid_args", `${missing} is missing, or not text.`, { hint: route.about });
  return json(await route.run(body, call, deps));
}

async function viaDispatch(
  name: string,
  args: unknown,
  session_id: unknown,
  call: RestCall,
  deps: RestDeps,
): Promise<unknown> {
  const reply = await deps.dispatch({
    name,
    args,
    principal: call.caller.principal,
    tools: call.caller.tools,
    via: "rest",
    signal: call.signal,
    edge: "data",
    correlation_id: call.correlation_id,
    ...(typeof session_id === "string" ? { session: { session_id } } : {}),
  });
  if (!reply.ok) throw reply.fault;
  return reply.payload;
}

export function json(value: unknown, status = 200): Response {
  return new Response(JSON.stringify(value), {
    status,
    headers: { "content-type": "application/json; charset=utf-8" },
  });
}

/** A fault as plain JSON: the code of the contract, its status, and when to come back. */
export function faultResponse(thrown: unknown, correlation_id: string): Response {
  const fault = asFault(thrown);
  const { rest, status } = FAULTS[fault.code];
  const body = {
    code: rest,
    message: fault.message,
    ...(fault.hint === undefined ? {} : { hint: fault.hint }),
    correlation_id,
  };
  const response = json(body, status);
  if (fault.retry_after_s !== undefined || status === 503)
    response.headers.set("retry-after", String(fault.retry_after_s ?? 5));
  return response;
}
