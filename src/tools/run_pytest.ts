import * as z from "zod";
import { defineTool } from "../core/tool.ts";
import { keeper } from "./commands.ts";

export const run_pytest = defineTool({
  name: "run_pytest",
  title: "Run pytest",
  description: "Run pytest; counts and failures only.",
  effects: ["run"],
  input: z.object({
    args: z.array(z.string()).default([]),
    path: z.string().optional(),
    timeout_s: z.number().positive().optional(),
  }),
  output: () =>
    z.object({
      passed: z.int(),
      failed: z.int(),
      skipped: z.int(),
      errors: z.int(),
      failures: z.array(
        z.object({ id: z.string(), file: z.string().nullable(), line: z.int().nullable(), message: z.string() }),
      ),
      handle: z.string().nullable(),
      exit_code: z.int(),
    }),
  async run({ args, path, timeout_s }, ctx) {
    const exec = await ctx.exec();
    const where = path === undefined ? [] : [ctx.roots.mint(path, "read").abs];
    const report = await exec.pytest(ctx.principal, [...args, ...where], undefined, {
      timeout_s: exec.timeout(timeout_s),
      signal: ctx.signal,
      session: ctx.session,
      keep: keeper(ctx, "pytest"),
    });
    return { ...report, failures: [...report.failures], handle: report.handle ?? null };
  },
});
