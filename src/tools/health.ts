import * as z from "zod";
import { defineTool } from "../core/tool.ts";

export const health = defineTool({
  name: "health",
  title: "Health",
  description: "Server state.",
  effects: ["read"],
  input: z.object({}),
  output: () =>
    z.object({
      ok: z.boolean(),
      version: z.string(),
      server_version: z.string(),
      mode: z.string(),
      isolation: z.string(),
      orphans: z.string(),
      index: z.string(),
    }),
  never_late: true,
  async run(_args, ctx) {
    return ctx.health();
  },
});
