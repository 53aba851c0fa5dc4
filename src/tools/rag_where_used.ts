import * as z from "zod";
import { defineTool } from "../core/tool.ts";
import { graphAnswer, LIMIT, leanItems, upTo } from "./graph-items.ts";

export const rag_where_used = defineTool({
  name: "rag_where_used",
  title: "Where a symbol is used",
  description: "Uses of a symbol (f, Class.f, path:f), surest first.",
  effects: ["read"],
  input: z.object({ symbol: z.string().min(1), limit: upTo(1000).optional(), cursor: z.string().optional() }),
  output: graphAnswer,
  lean: leanItems,
  async run(args, ctx) {
    const { items, ...answer } = await (await ctx.rag()).whereUsed({ ...args, limit: args.limit ?? LIMIT }, ctx.signal);
    return { ...answer, items: [...items] };
  },
});
