import * as z from "zod";
import { defineTool } from "../core/tool.ts";

export const cancel_execution = defineTool({
  name: "cancel_execution",
  title: "Cancel code",
  description: "Stop what runs in a session, or behind a job handle.",
  effects: ["change"],
  input: z.object({ session_id: z.string().optional(), handle: z.string().optional() }),
  output: () => z.object({ cancelled: z.boolean() }),
  exactly_one: ["session_id", "handle"],
  async run({ session_id, handle }, ctx) {
    if (handle !== undefined) return { cancelled: await (await ctx.handles()).cancel(ctx.principal, handle) };
    return { cancelled: await (await ctx.sandbox()).cancel(ctx.principal, session_id!) };
  },
});
