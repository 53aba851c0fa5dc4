import * as z from "zod";
import { defineTool } from "../core/tool.ts";
import { commandAnswer, isRaw, leanAnswer, runAllowed } from "./commands.ts";
import { answerTe, unwrapTe } from "./te.ts";

export const run_cmd = defineTool({
  name: "run_cmd",
  title: "Run a command",
  description: "Run a command. No shell.",
  effects: ["run"],
  input: z.object({
    command: z.string().optional(),
    argv: z.array(z.string()).optional(),
    cwd: z.string().optional(),
    timeout_s: z.number().positive().optional(),
    stdin: z.string().optional(),
    raw: z.boolean().optional(),
  }),
  output: () => commandAnswer,
  exactly_one: ["command", "argv"],
  argument_aliases: { timeout: "timeout_s" },
  lean: leanAnswer,
  async run(args, ctx) {
    const { ask, request, raw } = await unwrapTe(args);
    if (ask) return answerTe(ctx, ask);
    const exec = await ctx.exec();
    const command = await exec.allow({ ...request, cwd: args.cwd });
    ctx.audit({ rule: command.rule });
    return runAllowed(ctx, command, {
      timeout_s: exec.timeout(args.timeout_s),
      stdin: args.stdin,
      raw: isRaw(ctx, raw ?? args.raw),
    });
  },
});
