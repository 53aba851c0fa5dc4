import * as z from "zod";
import { defineTool } from "../core/tool.ts";

export const linux_sys_snapshot = defineTool({
  name: "linux_sys_snapshot",
  title: "System snapshot",
  description: "CPU, load, memory and disks.",
  effects: ["read"],
  input: z.object({}),
  output: () =>
    z.object({
      cpu: z.object({ count: z.int(), model: z.string(), used_percent: z.number() }),
      load: z.array(z.number()),
      memory: z.object({
        total_mb: z.number(),
        available_mb: z.number(),
        used_percent: z.number(),
        swap_used_mb: z.number(),
      }),
      disks: z.array(
        z.object({ path: z.string(), total_gb: z.number(), free_gb: z.number(), used_percent: z.number() }),
      ),
      summary: z.string(),
    }),
  // The summary says all of it in one line.
  lean: ({ summary }) => ({ head: { summary } }),
  async run(_args, ctx) {
    const exec = await ctx.exec();
    const { load, disks, ...rest } = await exec.snapshot(ctx.signal);
    return { ...rest, load: [...load], disks: [...disks] };
  },
});
