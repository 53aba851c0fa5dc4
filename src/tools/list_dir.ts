import * as z from "zod";
import { visibleLines } from "../base/text.ts";
import { defineTool } from "../core/tool.ts";
import { orNoHandle } from "../engines/handles/types.ts";

export const list_dir = defineTool({
  name: "list_dir",
  title: "List a folder",
  description: "List a folder.",
  effects: ["read"],
  input: z.object({
    path: z.string(),
    max_entries: z.int().min(1).max(100_000).default(1000),
    include_hidden: z.boolean().default(false),
  }),
  output: () =>
    z.object({
      data: z.array(z.string()),
      meta: z.object({ path: z.string(), truncated: z.boolean(), handle: z.string().optional() }),
    }),
  bulk: "data",
  timed: "read",
  lean: ({ data, meta }, args) => ({
    head: {
      ...(meta.path === args.path ? {} : { path: meta.path }),
      ...(meta.truncated ? { truncated: true, handle: meta.handle } : {}),
    },
    body: visibleLines(data),
  }),
  async run({ path, max_entries, include_hidden }, ctx) {
    const fs = await ctx.fs();
    const dir = ctx.roots.mint(path, "read");
    const listing = fs.listDir(dir, max_entries, include_hidden);
    if (!listing.truncated) return { data: listing.names, meta: { path: listing.path, truncated: false } };
    const all = fs.listDir(dir, Number.MAX_SAFE_INTEGER, include_hidden).names.join("\n");
    const handles = await ctx.handles();
    const handle = await orNoHandle(handles.put(ctx.principal, all, { kind: "fs_list", path: listing.path }));
    const meta = { path: listing.path, truncated: true, ...(handle === null ? {} : { handle }) };
    return { data: listing.names, meta };
  },
});
