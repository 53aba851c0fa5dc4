import * as z from "zod";
import { Fault } from "../base/fault.ts";
import { defineTool } from "../core/tool.ts";
import { graphItem, upTo } from "./graph-items.ts";

export const inspect = defineTool({
  name: "inspect",
  title: "A file or symbol at a glance",
  description: "A file or symbol at a glance: outline, signature, callers, callees, tests, docs.",
  effects: ["read"],
  input: z.object({
    path: z.string().min(1).optional(),
    symbol: z.string().min(1).optional(),
    include_full_source: z.boolean().optional(),
    max_neighbors: upTo(50).optional(),
  }),
  output: () =>
    z.object({
      path: z.string(),
      outline: z.array(z.string()),
      definition: z
        .object({
          symbol: z.string(),
          kind: z.string(),
          line: z.int(),
          last: z.int(),
          signature: z.string(),
          doc: z.string(),
          source: z.string().optional(),
        })
        .nullable(),
      callers: z.array(graphItem()),
      callees: z.array(graphItem()),
      tests: z.array(z.string()),
      docs: z.array(z.string()),
      last_commit: z.object({ hash: z.string(), date: z.string(), author: z.string(), subject: z.string() }).nullable(),
      note: z.string().optional(),
    }),
  async run(args, ctx) {
    if (args.path === undefined && args.symbol === undefined)
      throw new Fault("invalid_args", "Give a path or a symbol.", { hint: 'For example {"symbol": "Router.match"}.' });
    const found = await (await ctx.rag()).inspect(
      { ...args, include_full_source: args.include_full_source ?? false, max_neighbors: args.max_neighbors ?? 3 },
      ctx.signal,
    );
    const { outline, callers, callees, tests, docs } = found;
    return {
      ...found,
      outline: [...outline],
      callers: [...callers],
      callees: [...callees],
      tests: [...tests],
      docs: [...docs],
    };
  },
});
