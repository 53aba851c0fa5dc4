import * as z from "zod";
import { defineTool } from "../core/tool.ts";

export const linux_fs_delete = defineTool({
  name: "linux_fs_delete",
  title: "Delete",
  description: "Delete a file, or a folder when recursive.",
  effects: ["change"],
  input: z.object({ path: z.string(), recursive: z.boolean().default(false) }),
  output: () => z.object({ ok: z.literal(true), path: z.string(), removed: z.int() }),
  lean: ({ ok, path, removed }, args) => ({ head: { ok, ...(path === args.path ? {} : { path }), removed } }),
  async run({ path, recursive }, ctx) {
    const fs = await ctx.fs();
    const call = { owner: `${ctx.principal}#${ctx.correlation_id}`, signal: ctx.signal };
    return { ok: true as const, ...(await fs.remove(ctx.roots.mint(path, "write"), recursive, call)) };
  },
});
