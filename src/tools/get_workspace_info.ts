import * as z from "zod";
import { defineTool } from "../core/tool.ts";
import { sessionArgument } from "./sandbox-shapes.ts";

export const get_workspace_info = defineTool({
  name: "get_workspace_info",
  title: "Look into a session",
  description: "Files, variables and imports of a session.",
  effects: ["read"],
  input: sessionArgument,
  output: () =>
    z.object({
      session_id: z.string(),
      files: z.array(z.object({ path: z.string(), bytes: z.int() })),
      variables: z.array(z.object({ name: z.string(), type: z.string() })),
      imports: z.array(z.string()),
      quota: z.object({ bytes: z.int(), files: z.int() }),
    }),
  lean: ({ files, variables, imports }) => ({
    head: {
      files: files.map(({ path, bytes }) => `${path} ${bytes}`),
      variables: variables.map(({ name, type }) => `${name}: ${type}`),
      imports,
    },
  }),
  async run({ session_id }, ctx) {
    const info = await (await ctx.sandbox()).workspace(ctx.principal, session_id);
    return { ...info, files: [...info.files], variables: [...info.variables], imports: [...info.imports] };
  },
});
