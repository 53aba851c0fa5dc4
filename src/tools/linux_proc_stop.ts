import * as z from "zod";
import { defineTool } from "../core/tool.ts";

export const linux_proc_stop = defineTool({
  name: "linux_proc_stop",
  title: "Stop a process",
  description: "Stop a process started here; KILL after 5 s.",
  effects: ["run"],
  input: z.object({
    proc_id: z.string(),
    signal: z.enum(["TERM", "INT", "HUP", "QUIT", "KILL"]).default("TERM"),
  }),
  output: () => z.object({ state: z.enum(["running", "exited"]), exit_code: z.int() }),
  async run({ proc_id, signal }, ctx) {
    const exec = await ctx.exec();
    return exec.processes.stop(ctx.principal, proc_id, `SIG${signal}`);
  },
});
