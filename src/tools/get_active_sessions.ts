import * as z from "zod";
import { defineTool } from "../core/tool.ts";
import { nothing, runtimeLanguage } from "./sandbox-shapes.ts";

export const get_active_sessions = defineTool({
  name: "get_active_sessions",
  title: "Sessions",
  description: "Your sessions of execute_code.",
  effects: ["read"],
  input: nothing,
  output: () =>
    z.object({
      sessions: z.array(
        z.object({
          session_id: z.string(),
          language: runtimeLanguage,
          state: z.enum(["live", "hibernated"]),
          created_at: z.string(),
          last_used_at: z.string(),
          execution_count: z.int(),
          bytes: z.int(),
        }),
      ),
    }),
  lean: ({ sessions }) => ({
    head: {
      sessions: sessions.map(
        ({ session_id, language, state, last_used_at, execution_count }) =>
          `${session_id} ${language} ${state}, ${execution_count} runs, used ${last_used_at.slice(0, 19)}Z`,
      ),
    },
  }),
  run: async (_args, ctx) => ({ sessions: await (await ctx.sandbox()).sessions(ctx.principal) }),
});
