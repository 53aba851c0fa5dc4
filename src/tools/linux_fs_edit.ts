import * as z from "zod";
import { Fault } from "../base/fault.ts";
import { defineTool } from "../core/tool.ts";

const replacements = z.int().min(1).max(100_000).default(1);

export const linux_fs_edit = defineTool({
  name: "linux_fs_edit",
  title: "Edit a file",
  description: "Replace literal text, all edits or none.",
  effects: ["change"],
  input: z.object({
    path: z.string(),
    old_text: z.string().optional(),
    new_text: z.string().optional(),
    expected_replacements: replacements,
    edits: z
      .array(z.object({ old_text: z.string(), new_text: z.string(), expected_replacements: replacements }))
      .min(1)
      .max(1000)
      .optional(),
    expected_sha256: z.string().optional(),
    dry_run: z.boolean().default(false),
  }),
  exactly_one: ["old_text", "edits"],
  output: () =>
    z.object({
      replacements: z.int(),
      new_sha256: z.string(),
      diff: z.string(),
      mixed_line_endings: z.literal(true).optional(),
    }),
  bulk: "diff",
  lean: ({ diff, new_sha256, ...rest }) => ({
    head: { ...rest, new_sha256: new_sha256.slice(0, 12) },
    body: bare(diff),
  }),
  async run(args, ctx) {
    if (args.old_text !== undefined && args.new_text === undefined)
      throw new Fault("invalid_args", "linux_fs_edit needs new_text.", { hint: 'Use "" to delete.' });
    if (args.edits && args.new_text !== undefined)
      throw new Fault("invalid_args", "new_text belongs into edits, beside its old_text.");
    const { old_text = "", new_text = "", expected_replacements } = args;
    const edits = args.edits ?? [{ old_text, new_text, expected_replacements }];
    const fs = await ctx.fs();
    const call = { owner: `${ctx.principal}#${ctx.correlation_id}`, signal: ctx.signal };
    const { expected_sha256, dry_run } = args;
    return fs.edit(ctx.roots.mint(args.path, "write"), edits, { expected_sha256, dry_run }, call);
  },
});

/** A diff without what its reader knows: the file's name and the lines around. */
function bare(diff: string): string {
  const lines = diff.split("\n").slice(2);
  return lines
    .filter((line) => line !== "" && !line.startsWith(" "))
    .map((line) => line.replace(/^@@ -\d+(?:,\d+)? \+(\d+).*@@$/, "@@ $1"))
    .join("\n");
}
