import * as z from "zod";
import { defineTool } from "../core/tool.ts";
import { SCOPES } from "../engines/rag/options.ts";

export const rag_search = defineTool({
  name: "rag_search",
  title: "Find code by meaning of words",
  description: "Find the code or docs that a question, an error or an issue text is about. Ranked snippets.",
  effects: ["read"],
  input: z.object({
    q: z.string().min(1).max(100_000),
    scope: z.enum(SCOPES).optional(),
    k: z.int().min(1).max(100).default(3),
    budget_tokens: z.int().min(50).max(100_000).optional(),
  }),
  argument_aliases: { query: "q" },
  output: () =>
    z.object({
      snippets: z.array(
        z.object({ text: z.string(), src: z.string(), score: z.number(), symbol: z.string().optional() }),
      ),
      provenance: z.literal(true),
      stale: z.boolean(),
      coverage: z.number(),
      note: z.string().optional(),
    }),
  lean: ({ snippets, stale, coverage, note }) => ({
    head: { snippets: snippets.length, ...(stale ? { stale } : {}), ...(coverage < 1 ? { coverage } : {}), note },
    body: snippets
      .map(({ src, symbol, text }) => `== ${src}${symbol === undefined ? "" : ` ${symbol}`}\n${text}`)
      .join("\n\n"),
  }),
  async run(args, ctx) {
    const rag = await ctx.rag();
    const { snippets, ...facts } = await rag.search(args, ctx.signal);
    return { snippets: [...snippets], ...facts };
  },
});
