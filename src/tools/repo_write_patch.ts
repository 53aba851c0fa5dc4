import * as z from "zod";
import { Fault } from "../base/fault.ts";
import { inside, pinDir } from "../base/path/index.ts";
import { visible } from "../base/text.ts";
import { defineTool } from "../core/tool.ts";

export const repo_write_patch = defineTool({
  name: "repo_write_patch",
  title: "Apply a patch",
  description: "Apply a unified diff over many files, all or none.",
  effects: ["change"],
  input: z.object({ root: z.string().default("."), patch: z.string(), dry_run: z.boolean().default(false) }),
  output: () =>
    z.object({
      files: z.array(
        z.object({
          path: z.string(),
          action: z.string(),
          hunks: z.int(),
          rejected: z.array(z.object({ hunk: z.int(), reason: z.string() })),
        }),
      ),
      applied: z.boolean(),
    }),
  lean: ({ files, applied }) => {
    const told = files.filter((file) => applied || file.rejected.length > 0);
    return {
      head: {
        applied,
        files: told.map(({ path, action, hunks, rejected }) =>
          rejected.length > 0 ? { path, rejected } : `${action} ${visible(path)} (${hunks})`,
        ),
      },
    };
  },
  async run({ root, patch, dry_run }, ctx) {
    using folder = pinDir(ctx.roots, ctx.roots.mint(root, "read"));
    const base = folder.real;
    const mint = (path: string) => {
      const safe = ctx.roots.mint(path, "write", base);
      if (inside(safe.abs, base)) return safe;
      throw new Fault("path_denied", `${visible(path)} is outside of ${visible(root)}.`, { rule: "roots" });
    };
    const fs = await ctx.fs();
    const call = { owner: `${ctx.principal}#${ctx.correlation_id}`, signal: ctx.signal };
    return fs.patch(patch, { mint, dry_run }, call);
  },
});
