import * as z from "zod";
import { visible } from "../base/text.ts";
import { defineTool } from "../core/tool.ts";

export const linux_proc_list = defineTool({
  name: "linux_proc_list",
  title: "List processes",
  description: "Processes of a user (default: ours), own ones first, then by cpu.",
  effects: ["read"],
  input: z.object({
    user: z.string().optional(),
    max_results: z.int().min(1).max(5000).default(200),
  }),
  output: () =>
    z.object({
      processes: z.array(
        z.object({
          pid: z.int(),
          ppid: z.int(),
          user: z.string(),
          cpu: z.number(),
          mem: z.number(),
          command: z.string(),
          proc_id: z.string().optional(),
        }),
      ),
    }),
  lean: ({ processes }) => ({
    head: { processes: processes.length },
    body: [
      "pid ppid user cpu% mem% command",
      ...processes.map(
        ({ pid, ppid, user, cpu, mem, command, proc_id }) =>
          `${pid} ${ppid} ${user} ${cpu} ${mem} ${proc_id === undefined ? "" : `[${proc_id}] `}${visible(command)}`,
      ),
    ].join("\n"),
  }),
  async run({ user, max_results }, ctx) {
    const exec = await ctx.exec();
    return { processes: exec.list(ctx.principal, user, max_results) };
  },
});
