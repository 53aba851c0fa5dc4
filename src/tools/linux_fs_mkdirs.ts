import * as z from "zod";
import { defineTool } from "../core/tool.ts";

export const linux_fs_mkdirs = defineTool({
  name: "linux_fs_mkdirs",
  title: "Make folders",
  description: "mkdir -p",
  effects: ["add"],
  input: z.object({ path: z.string(), exist_ok: z.boolean().default(true) }),
  output: () => z.object({ ok: z.literal(true), path: z.string(), created: z.boolean() }),
  lean: ({ ok, path, created }, args) => ({ head: { ok, ...(path === args.path ? {} : { path }), created } }),
  async run({ path, exist_ok }, ctx) {
    const fs = await ctx.fs();
    const call = { owner: `${ctx.principal}#${ctx.correlation_id}`, signal: ctx.signal };
    return { ok: true as const, ...(await fs.mkdirs(ctx.roots.mint(path, "write"), exist_ok, call)) };
  },
});
