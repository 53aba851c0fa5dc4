import { FAULTS, Fault } from "../../base/fault.ts";
import { correlationId } from "../../base/ids.ts";
import type { Dispatch } from "../../core/dispatch.ts";
import { isObject } from "../../core/reply.ts";
import type { Caller } from "./auth.ts";
import { parseJson } from "./body.ts";
import { type HeaderList, ID_HEADER } from "./headers.ts";

export interface RestDeps {
  readonly dispatch: Dispatch;
  /** Whether a tool of this name can be called. */
  hasTool(name: string): boolean;
}

interface RestCall {
  /** Aborts when the caller hangs up. */
  readonly signal: AbortSignal;
  readonly caller: Caller;
  readonly correlation_id: string;
}

export interface Route {
  readonly path: string;
  readonly about: string;
  /** What the body must hold; all of them text but `args`. */
  readonly required: readonly string[];
  /** The answer as JSON. */
  run(body: Record<string, unknown>, call: RestCall, deps: RestDeps): Promise<string>;
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
    run: async (body, call, deps) => JSON.stringify({ text: RECEIVED, ...(await contextFor(body, call, deps)) }),
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
  const found = await viaDispatch("rag_search", { q: body["user_msg"] }, body["session_id"], call, deps);
  return { context: JSON.parse(found) as unknown };
}

/** `text`: the request's body. Gives the answer's, or throws a fault. */
export async function runRoute(route: Route, text: string, call: RestCall, deps: RestDeps): Promise<string> {
  const body = parseJson(text);
  if (!isObject(body)) throw new Fault("invalid_args", "The body must be a JSON object.");
  const missing = route.required.find((name) => typeof body[name] !== "string");
  if (missing !== undefined)
    throw new Fault("invalid_args", `${missing} is missing, or not text.`, { hint: route.about });
  return route.run(body, call, deps);
}

async function viaDispatch(
  name: string,
  args: unknown,
  session_id: unknown,
  call: RestCall,
  deps: RestDeps,
): Promise<string> {
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
  return reply.text;
}

/** The id that the caller gave this request, or one of ours. */
export function answerId(headers: HeaderList): string {
  const asked = headers.get(ID_HEADER);
  return asked !== null && /^[\w-]{1,64}$/.test(asked) ? asked : correlationId();
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const AS_JSON = { "content-type": "application/json; charset=utf-8" };

export function jsonAnswer(body: string, status = 200): Answer {
  return { status, headers: AS_JSON, body };
}

/** A fault as plain JSON: the code of the contract, its status, and when to come back. */
export function faultAnswer(fault: Fault, correlation_id: string): Answer {
  const { rest, status } = FAULTS[fault.code];
  const body = {
    code: rest,
    message: fault.message,
    ...(fault.hint === undefined ? {} : { hint: fault.hint }),
    correlation_id,
  };
  const answer = jsonAnswer(JSON.stringify(body), status);
  if (fault.retry_after_s === undefined && status !== 503) return answer;
  return { ...answer, headers: { ...AS_JSON, "retry-after": String(fault.retry_after_s ?? 5) } };
}

export function responseOf({ status, headers, body }: Answer): Response {
  return new Response(body, { status, headers });
}

export function json(value: unknown, status = 200): Response {
  return responseOf(jsonAnswer(JSON.stringify(value), status));
}
