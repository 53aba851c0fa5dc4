import * as z from "zod";
import { defineTool } from "../core/tool.ts";
import { runtimeLanguage } from "./sandbox-shapes.ts";

export const create_session = defineTool({
  name: "create_session",
  title: "Create a session",
  description: "A session for execute_code, new or a copy of from_session.",
  effects: ["add"],
  input: z.object({
    language: z.enum(["javascript", "typescript", "python"]),
    session_id: z.string().optional(),
    from_session: z.string().optional(),
    auto_persist_globals: z.boolean().default(true),
  }),
  output: () =>
    z.object({
      session_id: z.string(),
      language: runtimeLanguage,
      created_at: z.string(),
      expires_at: z.string(),
    }),
  run: async (args, ctx) => (await ctx.sandbox()).createSession(ctx.principal, args),
});
