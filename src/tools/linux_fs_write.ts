import * as z from "zod";
import { defineTool } from "../core/tool.ts";

export const linux_fs_write = defineTool({
  name: "linux_fs_write",
  title: "Write a file",
  description: "Write or append text. Keeps mode and CRLF.",
  effects: ["change"],
  input: z.object({
    path: z.string(),
    content: z.string(),
    mode: z.enum(["rewrite", "append"]).default("rewrite"),
    expected_sha256: z.string().optional(),
  }),
  output: () =>
    z.object({
      bytes_written: z.int(),
      new_sha256: z.string(),
      line_endings: z.literal("crlf").optional(),
    }),
  lean: (written) => ({ head: { ...written, new_sha256: written.new_sha256.slice(0, 12) } }),
  async run({ path, content, mode, expected_sha256 }, ctx) {
    const fs = await ctx.fs();
    const call = { owner: `${ctx.principal}#${ctx.correlation_id}`, signal: ctx.signal };
    return fs.write(ctx.roots.mint(path, "write"), content, { mode, expected_sha256 }, call);
  },
});
