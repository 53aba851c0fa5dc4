import * as z from "zod";
import { defineTool } from "../core/tool.ts";

export const linux_proc_start = defineTool({
  name: "linux_proc_start",
  title: "Start a process",
  description: "Start a background process (server, watcher, REPL). wait_for: text to wait for in its output.",
  effects: ["run"],
  input: z.object({
    command: z.string().optional(),
    argv: z.array(z.string()).optional(),
    cwd: z.string().optional(),
    pty: z.boolean().default(false),
    wait_for: z.string().max(1000).optional(),
    wait_s: z.number().min(0).max(600).default(1),
  }),
  output: () =>
    z.object({
      proc_id: z.string(),
      pid: z.int(),
      output: z.string(),
      state: z.enum(["running", "exited"]),
      cursor: z.int(),
      exit_code: z.int().optional(),
      dropped: z.int().optional(),
    }),
  exactly_one: ["command", "argv"],
  bulk: "output",
  async run(args, ctx) {
    const exec = await ctx.exec();
    const command = await exec.allow(args);
    ctx.audit({ rule: command.rule });
    const { pty, wait_for, wait_s } = args;
    return exec.processes.start(ctx.principal, command, {
      pty,
      wait_for,
      wait_s,
      session: ctx.session,
      signal: ctx.signal,
    });
  },
});
