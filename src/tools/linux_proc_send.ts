import * as z from "zod";
import { defineTool } from "../core/tool.ts";

export const linux_proc_send = defineTool({
  name: "linux_proc_send",
  title: "Send to a process",
  description: "Write to a process's input.",
  effects: ["run"],
  input: z.object({
    proc_id: z.string(),
    input: z.string().max(1024 * 1024),
    newline: z.boolean().default(true),
  }),
  output: () => z.object({ ok: z.literal(true) }),
  async run({ proc_id, input, newline }, ctx) {
    const exec = await ctx.exec();
    await exec.processes.send(ctx.principal, proc_id, newline ? `${input}\n` : input, ctx.signal);
    return { ok: true as const };
  },
});
