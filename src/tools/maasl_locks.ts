import * as z from "zod";
import { defineTool } from "../core/tool.ts";

export const maasl_locks = defineTool({
  name: "maasl_locks",
  title: "Locks",
  description: "Who is changing what.",
  effects: ["read"],
  input: z.object({}),
  output: () =>
    z.object({
      locks: z.array(
        z.object({
          resource: z.string(),
          class: z.string(),
          holder: z.string(),
          since: z.string(),
          expires: z.string(),
        }),
      ),
    }),
  async run(_args, ctx) {
    return { locks: await (await ctx.fs()).locks() };
  },
});
