import * as z from "zod";

/** `[mcp.search]` */
export const searchOptions = z.strictObject({
  ignore: z.array(z.string().min(1)).default([]).describe("Globs, as in .gitignore, that no search looks at."),
  hidden: z.boolean().default(false).describe("Search files and folders whose name begins with a dot."),
  count_limit: z
    .int()
    .min(1)
    .max(1_000_000)
    .default(10_000)
    .describe("Hits counted and kept at most; beyond, total_hits is a lower bound."),
  max_line_chars: z.int().min(20).max(5_000).default(300).describe("Longer lines are cut around the match."),
});

export type SearchOptions = z.output<typeof searchOptions>;
