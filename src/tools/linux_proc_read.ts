import * as z from "zod";
import { defineTool } from "../core/tool.ts";

export const linux_proc_read = defineTool({
  name: "linux_proc_read",
  title: "Read a process",
  description: "Read a process's output from cursor (default: where the last read ended).",
  effects: ["read"],
  input: z.object({
    proc_id: z.string(),
    cursor: z.int().min(0).optional(),
    wait_for: z.string().max(1000).optional(),
    wait_s: z.number().min(0).max(600).default(1),
    max_bytes: z
      .int()
      .min(4)
      .max(1024 * 1024)
      .default(32_768),
  }),
  output: () =>
    z.object({
      output: z.string(),
      cursor: z.int(),
      state: z.enum(["running", "exited"]),
      exit_code: z.int().optional(),
      dropped: z.int().optional(),
    }),
  bulk: "output",
  async run({ proc_id, ...request }, ctx) {
    const exec = await ctx.exec();
    return exec.processes.read(ctx.principal, proc_id, { ...request, signal: ctx.signal });
  },
});
