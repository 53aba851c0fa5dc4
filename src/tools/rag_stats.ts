import * as z from "zod";
import { defineTool } from "../core/tool.ts";

export const rag_stats = defineTool({
  name: "rag_stats",
  title: "Index state",
  description: "State of the index behind rag_search.",
  effects: ["read"],
  input: z.object({}),
  output: () =>
    z.object({
      phase: z.enum(["empty", "indexing", "ready"]),
      files: z.int(),
      chunks: z.int(),
      symbols: z.int(),
      vectors: z.int(),
      languages: z.record(z.string(), z.int()),
      skipped: z.record(z.string(), z.int()),
      coverage: z.number(),
      stale: z.boolean(),
      watching: z.boolean(),
      head: z.string().nullable(),
      synced_at: z.string().nullable(),
      last_error: z.string().nullable(),
    }),
  never_late: true,
  async run(_args, ctx) {
    return (await ctx.rag()).stats();
  },
});
