import { defineTool } from "../core/tool.ts";
import { ok, sessionArgument } from "./sandbox-shapes.ts";

export const destroy_session = defineTool({
  name: "destroy_session",
  title: "End a session",
  description: "End a session of execute_code and its files.",
  effects: ["change"],
  input: sessionArgument,
  output: () => ok,
  async run({ session_id }, ctx) {
    await (await ctx.sandbox()).destroySession(ctx.principal, session_id);
    return { ok: true };
  },
});
