import * as z from "zod";
import { defineTool } from "../core/tool.ts";
import { nothing } from "./sandbox-shapes.ts";

export const reset_all_sessions = defineTool({
  name: "reset_all_sessions",
  title: "End all sessions",
  description: "End all your sessions of execute_code.",
  effects: ["change"],
  input: nothing,
  output: () => z.object({ reset: z.int() }),
  run: async (_args, ctx) => ({ reset: await (await ctx.sandbox()).resetAll(ctx.principal) }),
});
