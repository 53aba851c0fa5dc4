import type { SessionContext } from "./context.ts";
import type { Call } from "./dispatch.ts";
import type { SessionOptions } from "./options.ts";
import { isObject } from "./reply.ts";
import type { Tool } from "./tool.ts";

const FIELDS = ["agent_id", "session_id", "model", "budget_profile"] as const;

/** Who a call is for: told in its arguments, else by the client's metadata, else configured. Never guessed. */
export function sessionOf(
  tool: Tool,
  call: Call,
  defaults: SessionOptions,
): { session: SessionContext; args: unknown } {
  const told: Partial<Record<(typeof FIELDS)[number], string>> = {};
  let args = call.args;
  if (isObject(args)) {
    const rest = { ...args };
    for (const field of FIELDS) {
      const value = rest[field];
      if (Object.hasOwn(tool.input.shape, field) || typeof value !== "string") continue;
      told[field] = value;
      delete rest[field];
    }
    args = rest;
  }
  return {
    args,
    session: {
      agent_id: told.agent_id ?? call.session?.agent_id ?? defaults.default_agent_id,
      session_id: told.session_id ?? call.session?.session_id ?? "",
      model: told.model ?? call.session?.model ?? defaults.default_model,
      budget_profile: told.budget_profile ?? call.session?.budget_profile ?? "default",
    },
  };
}
