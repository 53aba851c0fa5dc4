import * as z from "zod";
import { defineTool } from "../core/tool.ts";

export const stat = defineTool({
  name: "stat",
  title: "Facts about a path",
  description: "Size, mtime, mode, type.",
  effects: ["read"],
  input: z.object({ path: z.string() }),
  output: () =>
    z.object({
      data: z.object({
        path: z.string(),
        type: z.string(),
        size: z.int(),
        mtime: z.string(),
        mode: z.string(),
        uid: z.int(),
        gid: z.int(),
        link: z.string().optional(),
      }),
    }),
  timed: "read",
  lean: ({ data }, args) => {
    const { path, uid: _uid, gid: _gid, ...facts } = data;
    return { head: path === args.path ? facts : { path, ...facts } };
  },
  async run({ path }, ctx) {
    return { data: (await ctx.fs()).stat(ctx.roots.mint(path, "read")) };
  },
});
