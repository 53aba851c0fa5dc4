import * as z from "zod";
import { asFault } from "../base/fault.ts";
import type { Pinned } from "../base/path/index.ts";
import type { ToolContext } from "../core/context.ts";
import { defineTool } from "../core/tool.ts";
import { isHandle } from "../engines/handles/types.ts";

export const linux_fs_read = defineTool({
  name: "linux_fs_read",
  title: "Read lines",
  description: "Read lines of a text file or handle.",
  effects: ["read"],
  input: z.object({
    path: z.string(),
    offset_lines: z.int().min(0).default(0),
    max_lines: z.int().min(1).max(2000).default(200),
  }),
  output: () =>
    z.object({
      content: z.string(),
      handle: z.string().nullable(),
      meta: z.object({
        path: z.string(),
        total_lines: z.int(),
        truncated: z.boolean(),
        total_lines_is_lower_bound: z.boolean().optional(),
        next_offset_lines: z.int().optional(),
        replaced: z.boolean().optional(),
        cut_lines: z.int().optional(),
        binary: z.string().optional(),
        size_bytes: z.int().optional(),
      }),
    }),
  bulk: "content",
  timed: "read",
  lean: ({ content, handle, meta }, args) => {
    const { path, truncated, ...rest } = meta;
    return {
      head: { ...(path === args.path ? {} : { path }), ...rest, ...(truncated ? { truncated, handle } : {}) },
      body: content,
    };
  },
  shortened: (payload, args, body) => {
    const lines = body.split("\n").length - 1;
    const content = lines > 0 ? body.slice(0, body.lastIndexOf("\n") + 1) : body;
    const next_offset_lines = args.offset_lines + Math.max(1, lines);
    return { ...payload, content, meta: { ...payload.meta, truncated: true, next_offset_lines } };
  },
  async run({ path, offset_lines, max_lines }, ctx) {
    if (isHandle(path)) return readHandle(path, offset_lines, max_lines, ctx);
    const fs = await ctx.fs();
    using file = fs.open(ctx.roots.mint(path, "read"));
    const slice = await fs.readLines(file, offset_lines, max_lines, ctx.signal);
    if (slice.binary)
      return {
        content: "",
        handle: null,
        meta: {
          path: file.shown,
          total_lines: 0,
          truncated: false,
          binary: slice.binary.type,
          size_bytes: file.stat.size,
        },
      };
    return {
      content: slice.content,
      handle: slice.truncated ? await keep(file, ctx) : null,
      meta: {
        path: file.shown,
        total_lines: slice.total_lines,
        truncated: slice.truncated,
        ...(slice.total_lines_is_lower_bound ? { total_lines_is_lower_bound: true } : {}),
        ...(slice.truncated && slice.lines < max_lines ? { next_offset_lines: offset_lines + slice.lines } : {}),
        ...(slice.replaced ? { replaced: true } : {}),
        ...(slice.cut_lines > 0 ? { cut_lines: slice.cut_lines } : {}),
      },
    };
  },
});

async function keep(file: Pinned, ctx: ToolContext): Promise<string | null> {
  try {
    const handles = await ctx.handles();
    return await handles.putFile(ctx.principal, file, { kind: "file_content", path: file.shown });
  } catch (error) {
    // The slice is the answer; a store that fails must not take it away.
    if (asFault(error).code === "store_unavailable") return null;
    throw error;
  }
}

async function readHandle(handle: string, offset_lines: number, max_lines: number, ctx: ToolContext) {
  const { content, meta } = await (await ctx.handles()).readLines(ctx.principal, handle, offset_lines, max_lines);
  return { content, handle, meta: { path: handle, total_lines: meta.total_lines, truncated: meta.truncated } };
}
