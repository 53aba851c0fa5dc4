import * as z from "zod";
import { defineTool, type Tool } from "../core/tool.ts";
import { answer, commandAnswer, type Digest, keeper, leanAnswer } from "./commands.ts";

/** `digest` makes a model's answer shorter; without it every answer is raw. */
export function makeRunCmd(digest?: Digest): Tool {
  return defineTool({
    name: "run_cmd",
    title: "Run a command",
    description: "Run a command. No shell: no pipes, globs, redirection or &&.",
    effects: ["run"],
    input: z.object({
      command: z.string().optional(),
      argv: z.array(z.string()).optional(),
      cwd: z.string().optional(),
      timeout_s: z.number().positive().optional(),
      stdin: z.string().optional(),
      raw: z.boolean().optional(),
    }),
    output: commandAnswer,
    exactly_one: ["command", "argv"],
    argument_aliases: { timeout: "timeout_s" },
    lean: leanAnswer,
    async run(args, ctx) {
      const exec = await ctx.exec();
      const command = await exec.allow(args);
      ctx.audit({ rule: command.rule });
      const result = await exec.run(ctx.principal, command, {
        timeout_s: exec.timeout(args.timeout_s),
        signal: ctx.signal,
        stdin: args.stdin,
        session: ctx.session,
        keep: keeper(ctx, command.shown),
      });
      ctx.signal.throwIfAborted();
      const isRaw = args.raw ?? (ctx.via === "rest" || ctx.via === "code");
      if (!digest || isRaw) return answer(result);
      const { stdout, stderr, mode, handle } = await digest(result, command, ctx);
      const plain = answer(result);
      return {
        data: { ...plain.data, stdout, stderr },
        meta: { ...plain.meta, mode, ...(handle === undefined ? {} : { handle }) },
      };
    },
  });
}

export const run_cmd = makeRunCmd();
