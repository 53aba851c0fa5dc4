import type { Principal } from "../base/principal.ts";
import type { SessionContext, Via } from "../core/context.ts";
import type { Dispatch, Reply } from "../core/dispatch.ts";
import { isObject } from "../core/reply.ts";

export interface Caller {
  readonly principal: Principal;
  readonly via: Via;
  /** Globs of tools that it may call; all where absent. */
  readonly tools?: readonly string[];
  /** Names this conversation where the client names none. */
  readonly session_id: string;
}

export type Meta = Readonly<Record<string, unknown>>;

export interface ProgressParams extends Record<string, unknown> {
  readonly progressToken: string | number;
  readonly progress: number;
  readonly message: string;
  readonly total?: number;
}

/** A `tools/call`, whoever read it off the wire. */
export interface ToolCall {
  readonly name: string;
  readonly args: unknown;
  readonly meta: Meta | undefined;
  /** The client's own name, where it told one. */
  readonly client: string | undefined;
  readonly signal: AbortSignal;
  progress(params: ProgressParams): void;
}

interface ToolCallDeps {
  readonly dispatch: Dispatch;
  readonly structured: boolean;
}

export interface ToolResult extends Record<string, unknown> {
  content: { type: "text"; text: string }[];
  isError?: true;
  structuredContent?: Record<string, unknown>;
}

/** Hands the call to dispatch, and gives the protocol's result beside the reply. */
export async function callTool(
  deps: ToolCallDeps,
  caller: Caller,
  call: ToolCall,
): Promise<{ result: ToolResult; reply: Reply }> {
  const token = call.meta?.["progressToken"];
  const reply = await deps.dispatch({
    name: call.name,
    args: call.args,
    principal: caller.principal,
    via: caller.via,
    ...(caller.tools === undefined ? {} : { tools: caller.tools }),
    signal: call.signal,
    edge: "model",
    session: sessionFrom(call.meta, call.client, caller.session_id),
    ...(typeof token === "string" || typeof token === "number" ? { progress: progressOf(token, call) } : {}),
  });
  const content: ToolResult["content"] = [{ type: "text", text: reply.text }];
  if (!reply.ok) return { result: { content, isError: true }, reply };
  const isStructured = deps.structured && isObject(reply.payload);
  return { result: isStructured ? { content, structuredContent: reply.payload as Meta } : { content }, reply };
}

/** The protocol wants every step to be more than the one before. */
function progressOf(progressToken: string | number, call: ToolCall) {
  let step = 0;
  return (message: string, done?: number, total?: number): void => {
    step = Math.max(step + 1e-6, done ?? step + 1);
    call.progress({ progressToken, progress: step, message, ...(total === undefined ? {} : { total }) });
  };
}

const META_PREFIX = "llmc/";

/** What the client told about this call: `_meta["llmc/agent_id"]` and its sisters, else the client's own name. */
function sessionFrom(meta: Meta | undefined, client: string | undefined, session_id: string): Partial<SessionContext> {
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
