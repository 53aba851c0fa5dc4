import * as z from "zod";
import { defineTool, type Tool } from "../core/tool.ts";
import { commandAnswer, isRaw, leanAnswer, runAllowed } from "./commands.ts";

interface Executable {
  readonly command: readonly string[];
  readonly description: string;
}

/** A tool for each program that the operator offers in [mcp.tools.executables]. */
export function makeExecutables(executables: Readonly<Record<string, Executable>>): Tool[] {
  return Object.entries(executables).map(([name, { command, description }]) =>
    defineTool({
      name,
      title: name,
      description: description || `Run ${command.join(" ")} with args.`,
      effects: ["run"],
      input: z.object({
        args: z.array(z.string()).default([]),
        cwd: z.string().optional(),
        timeout_s: z.number().positive().optional(),
        stdin: z.string().optional(),
      }),
      output: () => commandAnswer,
      argument_aliases: { timeout: "timeout_s" },
      lean: leanAnswer,
      async run({ args, cwd, timeout_s, stdin }, ctx) {
        const exec = await ctx.exec();
        const allowed = await exec.allowExecutable(name, args, cwd);
        ctx.audit({ rule: allowed.rule });
        return runAllowed(ctx, allowed, { timeout_s: exec.timeout(timeout_s), stdin, raw: isRaw(ctx) });
      },
    }),
  );
}
