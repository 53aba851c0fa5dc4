import type { JSONRPCMessage } from "@modelcontextprotocol/server";
import { isObject } from "../core/reply.ts";
import type { Meta, ToolCall, ToolResult } from "./tool-call.ts";

interface DirectDeps {
  /** Whether a handshake made this a connection on which a call is only its name, its arguments and `_meta`. */
  isOpen(): boolean;
  /** The client's own name, from that handshake. */
  client(): string | undefined;
  call(call: ToolCall): Promise<ToolResult>;
  send(message: JSONRPCMessage): Promise<void>;
}

export interface Direct {
  /** Takes the message and answers it; false when it is for the protocol library. */
  take(message: JSONRPCMessage): boolean;
  /** The client is gone: what it asked for ends. */
  close(): void;
}

type Id = string | number;

/**
 * `ping` and the plain `tools/call` go past the protocol library: with its envelope, its queue and its four validations it takes
 * longer than the tool. Whatever is not exactly of that shape is the library's, and so are its refusals.
 */
export function createDirect(deps: DirectDeps): Direct {
  const running = new Map<Id, AbortController>();

  async function answer(id: Id, { name, args, meta }: Plain, control: AbortController): Promise<void> {
    const { signal } = control;
    const progress: ToolCall["progress"] = (params) =>
      void deps.send({ jsonrpc: "2.0", method: "notifications/progress", params }).catch(() => {});
    try {
      const result = await deps.call({ name, args, meta, client: deps.client(), signal, progress });
      // Nobody waits for the answer of a cancelled call.
      if (!signal.aborted) await deps.send({ result, jsonrpc: "2.0", id });
    } finally {
      if (running.get(id) === control) running.delete(id);
    }
  }

  return {
    take(message) {
      if (!("method" in message)) return false;
      const { method, params } = message;
      if (method === "notifications/cancelled") return cancelled(running, params);
      if (!("id" in message) || !deps.isOpen()) return false;
      const { id } = message;
      if (method === "ping" && params === undefined) {
        void deps.send({ result: {}, jsonrpc: "2.0", id }).catch(() => {});
        return true;
      }
      const plain = method === "tools/call" ? plainCall(params) : undefined;
      if (!plain) return false;
      const control = new AbortController();
      running.set(id, control);
      void answer(id, plain, control).catch(() => {});
      return true;
    },
    close() {
      for (const control of running.values()) control.abort();
    },
  };
}

function cancelled(running: ReadonlyMap<Id, AbortController>, params: unknown): boolean {
  const id = isObject(params) ? (params["requestId"] as Id) : undefined;
  const control = id === undefined ? undefined : running.get(id);
  control?.abort((params as Meta)["reason"]);
  return control !== undefined;
}

interface Plain {
  readonly name: string;
  readonly args: unknown;
  readonly meta: Meta | undefined;
}

/** What other keys mean (a task, an answer to a question of ours, an envelope), the library knows. */
function plainCall(params: unknown): Plain | undefined {
  if (!isObject(params)) return undefined;
  const { name, arguments: args, _meta: meta, ...others } = params;
  if (typeof name !== "string" || (args !== undefined && !isObject(args))) return undefined;
  for (const _ in others) return undefined;
  if (meta !== undefined && !isPlainMeta(meta)) return undefined;
  return { name, args, meta };
}

const RESERVED = "io.modelcontextprotocol/";

function isPlainMeta(meta: unknown): meta is Meta {
  if (!isObject(meta)) return false;
  const { progressToken: token } = meta;
  if (token !== undefined && typeof token !== "string" && !Number.isInteger(token)) return false;
  for (const key in meta) if (key.startsWith(RESERVED)) return false;
  return true;
}
