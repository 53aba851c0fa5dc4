import * as z from "zod";
import { asFault, Fault } from "../base/fault.ts";
import { inside, type Pinned, pinDir } from "../base/path/index.ts";
import { visible } from "../base/text.ts";
import type { ToolContext } from "../core/context.ts";
import { defineTool } from "../core/tool.ts";

const MIB = 1024 * 1024;

export const repo_read = defineTool({
  name: "repo_read",
  title: "Read a file of a repository",
  description: "Read a file below a root.",
  effects: ["read"],
  input: z.object({
    root: z.string().default("."),
    path: z.string(),
    max_bytes: z
      .int()
      .min(1)
      .max(8 * MIB)
      .default(MIB),
  }),
  output: () =>
    z.object({
      data: z.string(),
      meta: z.object({
        path: z.string(),
        length: z.int(),
        truncated: z.boolean(),
        size: z.int().optional(),
        handle: z.string().optional(),
        replaced: z.boolean().optional(),
      }),
    }),
  bulk: "data",
  timed: "read",
  lean: ({ data, meta: { path, length: _length, truncated, ...rest } }, args) => ({
    head: { ...(path === args.path ? {} : { path }), ...(truncated ? { truncated } : {}), ...rest },
    body: data,
  }),
  async run({ root, path, max_bytes }, ctx) {
    using folder = pinDir(ctx.roots, ctx.roots.mint(root, "read"));
    const fs = await ctx.fs();
    using file = fs.open(ctx.roots.mint(path, "read", folder.real));
    if (!inside(file.real, folder.real))
      throw new Fault("path_denied", `${visible(path)} is outside of ${visible(root)}.`, { rule: "roots" });
    const slice = await fs.readBytes(file, 0, max_bytes, ctx.signal);
    const handle = slice.truncated ? await keep(file, ctx) : undefined;
    return {
      data: slice.text,
      meta: {
        path: file.shown,
        length: slice.length,
        truncated: slice.truncated,
        ...(slice.truncated ? { size: slice.total_bytes } : {}),
        ...(handle === undefined ? {} : { handle }),
        ...(slice.replaced ? { replaced: true } : {}),
      },
    };
  },
});

async function keep(file: Pinned, ctx: ToolContext): Promise<string | undefined> {
  try {
    const handles = await ctx.handles();
    return await handles.putFile(ctx.principal, file, { kind: "file_content", path: file.shown });
  } catch (error) {
    // The slice is the answer; a store that fails must not take it away.
    if (asFault(error).code === "store_unavailable") return undefined;
    throw error;
  }
}
