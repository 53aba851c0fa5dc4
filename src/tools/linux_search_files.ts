import * as z from "zod";
import { visible } from "../base/text.ts";
import { defineTool } from "../core/tool.ts";
import { orNoHandle } from "../engines/handles/types.ts";

export const linux_search_files = defineTool({
  name: "linux_search_files",
  title: "Find files",
  description: "Find files by a part of the path or a glob. Ignored files are left out.",
  effects: ["read"],
  timed: "read",
  input: z.object({
    root: z.string(),
    pattern: z.string().max(4096),
    file_glob: z.string().max(1024).nullish(),
    max_results: z.int().min(1).max(2000).default(200),
  }),
  output: () =>
    z.object({
      hits: z.array(z.object({ path: z.string() })),
      total_hits: z.int(),
      total_hits_is_lower_bound: z.literal(true).optional(),
      truncated: z.boolean(),
      handle: z.string().nullable(),
      warning: z.string().optional(),
    }),
  lean: ({ hits, truncated, ...facts }) => ({
    head: { ...facts, ...(truncated ? { truncated } : {}) },
    body: hits.map((hit) => visible(hit.path)).join("\n"),
  }),
  async run({ root, pattern, file_glob, max_results }, ctx) {
    const engine = await ctx.search();
    const at = ctx.roots.mint(root, "read");
    const found = await engine.files({ root: at, pattern, file_glob: file_glob ?? undefined, max_results }, ctx.signal);
    const { hits, total_hits, truncated, warning } = found;
    const keep = async () =>
      (await ctx.handles()).put(ctx.principal, found.everything(), { kind: "search_hits", root: at.shown });
    return {
      hits: [...hits],
      total_hits,
      ...(found.total_hits_is_lower_bound ? { total_hits_is_lower_bound: true as const } : {}),
      truncated,
      handle: truncated ? await orNoHandle(keep()) : null,
      ...(warning === undefined ? {} : { warning }),
    };
  },
});
