import * as z from "zod";
import { defineTool } from "../core/tool.ts";

export const linux_proc_kill = defineTool({
  name: "linux_proc_kill",
  title: "Signal a process",
  description: "Signal a process by pid.",
  effects: ["run", "change"],
  input: z.object({
    pid: z.int().min(1),
    signal: z.enum(["TERM", "INT", "HUP", "QUIT", "KILL", "USR1", "USR2", "STOP", "CONT"]).default("TERM"),
  }),
  output: () => z.object({ ok: z.literal(true) }),
  async run({ pid, signal }, ctx) {
    const exec = await ctx.exec();
    exec.kill(ctx.principal, pid, `SIG${signal}`);
    return { ok: true as const };
  },
});
