import { asFault, Fault } from "../../base/fault.ts";
import { createGate } from "../../base/gate.ts";
import type { CallReply, OnCall } from "./guest.ts";
import type { CallTool } from "./types.ts";

/** Largest reply of a tool that code gets. */
const REPLY_BYTES = 8 * 1024 * 1024;
/** Calls of one run that are under way at once; more wait their turn. */
const AT_ONCE = 16;

export interface Calls {
  readonly onCall: OnCall;
  readonly counts: Record<string, number>;
  /** The run tried to make more calls than it may. */
  isOver(): boolean;
}

/** The bridge's server side: counts, bounds and carries the calls that code makes. */
export function createCalls(callTool: CallTool | undefined, max_calls: number, signal: AbortSignal): Calls {
  const counts: Record<string, number> = Object.create(null) as Record<string, number>;
  const gate = createGate(AT_ONCE);
  let made = 0;
  let over = false;

  async function call(name: string, args_json: string): Promise<CallReply> {
    if (!callTool) throw new Fault("unknown_tool", "There are no tools here.");
    if (++made > max_calls) {
      over = true;
      throw new Fault("limit_exceeded", `One run may make ${max_calls} tool calls.`, {
        hint: "Ask for more with each call.",
      });
    }
    counts[name] = (counts[name] ?? 0) + 1;
    const leave = await gate.enter(signal);
    try {
      signal.throwIfAborted();
      const json = JSON.stringify((await callTool(name, argumentsOf(args_json), signal)) ?? null);
      if (json.length > REPLY_BYTES / 3 && Buffer.byteLength(json) > REPLY_BYTES)
        throw new Fault("file_too_large", `${name} returned more than ${REPLY_BYTES} bytes.`, {
          hint: "Ask for less.",
        });
      return { ok: true, json };
    } finally {
      leave();
    }
  }

  return {
    counts,
    isOver: () => over,
    onCall: (name, args_json) =>
      call(name, args_json).catch((error: unknown) => {
        const { code, message, hint } = asFault(error);
        return { ok: false, json: JSON.stringify({ code, message, hint }) };
      }),
  };
}

function argumentsOf(json: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    value = undefined;
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new Fault("invalid_args", "A tool takes one object with its arguments.", {
    hint: "tools.name({argument: value}); in Python also tools.name(argument=value).",
  });
}
