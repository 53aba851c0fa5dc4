import * as z from "zod";
import { defineTool } from "../core/tool.ts";
import { ENRICH_MODES, SCOPES } from "../engines/rag/options.ts";
import { upTo } from "./graph-items.ts";

export const rag_search_enriched = defineTool({
  name: "rag_search_enriched",
  title: "Find code with what stands around it",
  description: "rag_search with a summary and neighbours of each hit.",
  effects: ["read"],
  input: z.object({
    q: z.string().min(1),
    scope: z.enum(SCOPES).optional(),
    k: upTo(100).optional(),
    budget_tokens: z
      .int()
      .refine((tokens) => tokens >= 50, "It is 50 or more.")
      .optional(),
    enrich_mode: z.enum(ENRICH_MODES).optional(),
    graph_depth: upTo(3).optional(),
    include_features: z.boolean().optional(),
  }),
  argument_aliases: { query: "q" },
  output: () =>
    z.object({
      snippets: z.array(
        z.object({
          text: z.string(),
          src: z.string(),
          score: z.number(),
          symbol: z.string().optional(),
          neighbors: z.array(z.string()),
          summary: z.string(),
          features: z
            .object({
              kind: z.string(),
              language: z.string(),
              lines: z.int(),
              callers: z.int(),
              callees: z.int(),
              tests: z.int(),
            })
            .optional(),
        }),
      ),
      provenance: z.literal(true),
      stale: z.boolean(),
      coverage: z.number(),
      note: z.string().optional(),
    }),
  lean: ({ snippets, stale, coverage, note }) => ({
    head: { snippets: snippets.length, ...(stale ? { stale } : {}), ...(coverage < 1 ? { coverage } : {}), note },
    body: snippets
      .map(({ src, summary, neighbors, features, text }) =>
        [`== ${src} ${summary}`, ...neighbors, ...(features ? [JSON.stringify(features)] : []), text].join("\n"),
      )
      .join("\n\n"),
  }),
  async run(args, ctx) {
    const { k = 3, enrich_mode = "auto", graph_depth = 1, include_features = false } = args;
    const may_leave = ctx.may_leave_over_http || (ctx.origin !== "http" && ctx.origin !== "rest");
    const request = { ...args, k, enrich_mode, graph_depth, include_features, may_leave };
    const { snippets, ...facts } = await (await ctx.rag()).searchEnriched(request, ctx.signal);
    const whole = snippets.map(({ neighbors, summary, features, ...one }) => ({
      ...one,
      neighbors: [...(neighbors ?? [])],
      summary: summary ?? "",
      ...(features ? { features } : {}),
    }));
    return { snippets: whole, ...facts };
  },
});
