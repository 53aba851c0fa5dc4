import * as z from "zod";
import { visible } from "../base/text.ts";
import { defineTool } from "../core/tool.ts";
import { orNoHandle } from "../engines/handles/types.ts";

const hit = z.object({
  path: z.string(),
  line: z.int(),
  snippet: z.string(),
  /** Where the snippet begins, when context comes before the hit. */
  start_line: z.int().optional(),
});

export const linux_search_content = defineTool({
  name: "linux_search_content",
  title: "Search in files",
  description: "Search in files with ripgrep. Ignored files are left out.",
  effects: ["read"],
  timed: "read",
  input: z.object({
    root: z.string(),
    pattern: z.string().max(32_768),
    file_glob: z.string().max(1024).nullish(),
    literal: z.boolean().default(false),
    ignore_case: z.boolean().default(true),
    context_lines: z.int().min(0).max(10).default(3),
    max_results: z.int().min(1).max(1000).default(100),
  }),
  output: () =>
    z.object({
      hits: z.array(hit),
      total_hits: z.int(),
      total_hits_is_lower_bound: z.literal(true).optional(),
      truncated: z.boolean(),
      handle: z.string().nullable(),
      warning: z.string().optional(),
    }),
  lean: ({ hits, truncated, ...facts }) => ({
    head: { ...facts, ...(truncated ? { truncated } : {}) },
    body: byFile(hits),
  }),
  async run({ root, file_glob, ...query }, ctx) {
    const engine = await ctx.search();
    const at = ctx.roots.mint(root, "read");
    const found = await engine.content({ ...query, root: at, file_glob: file_glob ?? undefined }, ctx.signal);
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

/** As grep shows it: each file's name once, `12:` before a hit and `13-` before context. */
function byFile(hits: readonly z.output<typeof hit>[]): string {
  const lines: string[] = [];
  let path: string | undefined;
  for (const one of hits) {
    if (one.path !== path) lines.push(visible(one.path));
    path = one.path;
    let line = one.start_line ?? one.line;
    for (const text of one.snippet.split("\n")) {
      lines.push(`${line}${line === one.line ? ":" : "-"}${text}`);
      line++;
    }
  }
  return lines.join("\n");
}
