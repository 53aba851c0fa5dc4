import { defineTool } from "../core/tool.ts";
import { ok, sessionArgument } from "./sandbox-shapes.ts";

export const reset_workspace = defineTool({
  name: "reset_workspace",
  title: "Empty a session",
  description: "Remove a session's files and variables; it stays.",
  effects: ["change"],
  input: sessionArgument,
  output: () => ok,
  async run({ session_id }, ctx) {
    await (await ctx.sandbox()).resetWorkspace(ctx.principal, session_id);
    return { ok: true };
  },
});
