import * as z from "zod";
import { defineTool } from "../core/tool.ts";

export const linux_fs_move = defineTool({
  name: "linux_fs_move",
  title: "Move or rename",
  description: "Move a file or folder; never overwrites. A target ending in / is a folder to move into.",
  effects: ["change"],
  input: z.object({ source: z.string(), target: z.string() }),
  output: () => z.object({ ok: z.literal(true), source: z.string(), target: z.string() }),
  lean: ({ ok, source, target }, args) => ({
    head: { ok, ...(source === args.source ? {} : { source }), ...(target === args.target ? {} : { target }) },
  }),
  async run({ source, target }, ctx) {
    const fs = await ctx.fs();
    const call = { owner: `${ctx.principal}#${ctx.correlation_id}`, signal: ctx.signal };
    const from = ctx.roots.mint(source, "write");
    // The folder itself is only entered; what is made in it is judged by its own name.
    const into = target.endsWith("/");
    return { ok: true as const, ...(await fs.move(from, ctx.roots.mint(target, into ? "read" : "write"), into, call)) };
  },
});
