import * as z from "zod";
import { defineTool } from "../core/tool.ts";
import { DIRECTIONS } from "../engines/rag/options.ts";
import { graphAnswer, LIMIT, leanItems, upTo } from "./graph-items.ts";

export const rag_lineage = defineTool({
  name: "rag_lineage",
  title: "What a symbol leads to",
  description: "What uses a symbol (upstream) or what it uses (default), further on.",
  effects: ["read"],
  input: z.object({
    symbol: z.string().min(1),
    direction: z.enum(DIRECTIONS).optional(),
    depth: upTo(5).optional(),
    limit: upTo(1000).optional(),
    cursor: z.string().optional(),
  }),
  output: graphAnswer,
  lean: leanItems,
  async run(args, ctx) {
    const { direction = "downstream", depth = 1, limit = LIMIT } = args;
    const { items, ...answer } = await (await ctx.rag()).lineage({ ...args, direction, depth, limit }, ctx.signal);
    return { ...answer, items: [...items] };
  },
});
