import * as z from "zod";
import type { AllowedCommand } from "../base/command.ts";
import type { ToolContext } from "../core/context.ts";
import type { Lean } from "../core/tool.ts";
import type { Keep, RunResult } from "../engines/exec/index.ts";

/** What a command answers with: `run_cmd`, and the operator's executables. */
export const commandAnswer = z.object({
  data: z.object({
    stdout: z.string(),
    stderr: z.string(),
    exit_code: z.int(),
    signal: z.string().nullable(),
    timed_out: z.boolean(),
  }),
  meta: z.object({
    mode: z.enum(["enriched", "passthrough", "raw"]),
    handle: z.string().optional(),
    truncated: z.boolean().optional(),
    isolation: z.string(),
    duration_ms: z.number(),
  }),
});

export type CommandAnswer = z.output<typeof commandAnswer>;

/** A shorter form of a result for a model; the whole stays behind the result's handle. */
export type Digest = (
  result: RunResult,
  command: AllowedCommand,
  ctx: ToolContext,
) => Promise<{ stdout: string; stderr: string; mode: "enriched" | "passthrough"; handle?: string }>;

export function answer(result: RunResult): CommandAnswer {
  const { stdout, stderr, exit_code, signal, timed_out, handle, truncated, isolation, duration_ms } = result;
  return {
    data: { stdout, stderr, exit_code, signal, timed_out },
    meta: {
      mode: "raw",
      ...(handle === undefined ? {} : { handle }),
      ...(truncated ? { truncated } : {}),
      isolation,
      duration_ms,
    },
  };
}

/** How it ended in the first line, then what it printed. */
export function leanAnswer({ data, meta }: CommandAnswer): Lean {
  const head = {
    exit_code: data.exit_code,
    ...(data.signal === null ? {} : { signal: data.signal }),
    ...(data.timed_out ? { timed_out: true } : {}),
    ...(meta.mode === "raw" ? {} : { mode: meta.mode }),
    ...(meta.truncated ? { truncated: true } : {}),
    ...(meta.handle === undefined ? {} : { handle: meta.handle }),
  };
  if (data.stderr === "") return { head, body: data.stdout };
  const gap = data.stdout === "" || data.stdout.endsWith("\n") ? "" : "\n";
  return { head, body: `${data.stdout}${gap}[stderr]\n${data.stderr}` };
}

/** Where output goes that is too long to answer with. */
export function keeper(ctx: ToolContext, command: string): Keep {
  return async (output) =>
    (await ctx.handles()).put(ctx.principal, output, { kind: "output", path: command.slice(0, 200) });
}
