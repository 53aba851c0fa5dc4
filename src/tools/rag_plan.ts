import * as z from "zod";
import { defineTool } from "../core/tool.ts";

export const rag_plan = defineTool({
  name: "rag_plan",
  title: "What to read first",
  description: "What to read first for a task, and why.",
  effects: ["read"],
  input: z.object({
    query: z.string().min(1),
    detail_level: z.enum(["summary", "full"]).optional(),
  }),
  output: () =>
    z.object({
      steps: z.array(z.object({ read: z.string(), why: z.string(), confidence: z.number() })),
      queries: z.array(z.string()),
      note: z.string().optional(),
    }),
  async run({ query, detail_level = "summary" }, ctx) {
    const { steps, queries, note } = await (await ctx.rag()).plan({ query, detail: detail_level }, ctx.signal);
    return { steps: [...steps], queries: [...queries], ...(note === undefined ? {} : { note }) };
  },
});
