import * as z from "zod";
import type { AllowedCommand } from "../base/command.ts";
import type { ToolContext } from "../core/context.ts";
import type { Lean } from "../core/tool.ts";
import type { Enveloped } from "../engines/envelope/index.ts";
import type { Keep, RunResult } from "../engines/exec/index.ts";
import { orNoHandle } from "../engines/handles/types.ts";

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
    moved_away: z.array(z.string()).optional(),
  }),
});

export type CommandAnswer = z.output<typeof commandAnswer>;

interface Running {
  readonly timeout_s: number;
  readonly stdin?: string | undefined;
  /** All of it as it came; else shortened, where the operator wants that. */
  readonly raw: boolean;
}

/** What REST and code get when they do not say; a model gets a digest. */
export function isRaw(ctx: ToolContext, asked?: boolean): boolean {
  return asked ?? (ctx.via === "rest" || ctx.via === "code");
}

/** Runs what the gate let through, and answers with it. */
export async function runAllowed(ctx: ToolContext, command: AllowedCommand, running: Running): Promise<CommandAnswer> {
  const { result, enveloped } = await runWatched(ctx, command, running);
  const plain = answer(result);
  if (!enveloped) return plain;
  const { stdout, stderr, mode, handle, truncated } = enveloped;
  const { handle: _, truncated: __, ...meta } = plain.meta;
  return {
    data: { ...plain.data, stdout, stderr },
    meta: {
      ...meta,
      mode,
      ...(handle === undefined ? {} : { handle }),
      ...(truncated && handle === undefined ? { truncated } : {}),
    },
  };
}

/** The run, and its digest unless it is raw. */
export async function runWatched(
  ctx: ToolContext,
  command: AllowedCommand,
  { timeout_s, stdin, raw }: Running,
): Promise<{ result: RunResult; enveloped: Enveloped | undefined }> {
  const exec = await ctx.exec();
  const te = raw ? undefined : await ctx.envelope();
  const watch = te?.options.enabled ? te.watch() : undefined;
  const result = await exec.run(ctx.principal, command, {
    timeout_s,
    signal: ctx.signal,
    stdin,
    session: ctx.session,
    keep: keeper(ctx, command.shown),
    watch: watch?.push,
  });
  ctx.signal.throwIfAborted();
  if (!te || !watch) return { result, enveloped: undefined };
  const enveloped = await te.finish(watch, {
    ...result,
    who: ctx.session,
    principal: ctx.principal,
    argv: [command.name, ...command.words.slice(1)],
    keep: (output) => keep(ctx, command.shown, output),
  });
  return { result, enveloped };
}

export function answer(result: RunResult): CommandAnswer {
  const { stdout, stderr, exit_code, signal, timed_out, handle, truncated, isolation, duration_ms, moved_away } =
    result;
  return {
    data: { stdout, stderr, exit_code, signal, timed_out },
    meta: {
      mode: "raw",
      ...(handle === undefined ? {} : { handle }),
      ...(truncated ? { truncated } : {}),
      isolation,
      duration_ms,
      ...(moved_away.length === 0 ? {} : { moved_away: [...moved_away] }),
    },
  };
}

/** How it ended in the first line, then what it printed. */
export function leanAnswer({ data, meta }: CommandAnswer): Lean {
  const head = {
    exit_code: data.exit_code,
    ...(data.signal === null ? {} : { signal: data.signal }),
    ...(data.timed_out ? { timed_out: true } : {}),
    ...(meta.mode === "enriched" ? { mode: meta.mode } : {}),
    ...(meta.truncated ? { truncated: true } : {}),
    ...(meta.handle === undefined ? {} : { handle: meta.handle }),
    ...(meta.moved_away === undefined ? {} : { moved_away: meta.moved_away }),
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

async function keep(ctx: ToolContext, command: string, output: string): Promise<string | undefined> {
  const handles = await ctx.handles();
  const meta = { kind: "output", path: command.slice(0, 200) };
  return (await orNoHandle(handles.put(ctx.principal, output, meta))) ?? undefined;
}
