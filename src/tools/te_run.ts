import * as z from "zod";
import type { AllowedCommand } from "../base/command.ts";
import { Fault } from "../base/fault.ts";
import type { ToolContext } from "../core/context.ts";
import { defineTool } from "../core/tool.ts";
import type { Enveloped } from "../engines/envelope/index.ts";
import type { RunResult } from "../engines/exec/index.ts";
import { type CommandAnswer, keeper, runWatched } from "./commands.ts";
import { answerTe, TE_SCRIPT, unwrapTe } from "./te.ts";

const teAnswer = z.object({
  success: z.boolean(),
  mode: z.enum(["enriched", "passthrough", "raw"]),
  command: z.string(),
  stdout: z.string(),
  stderr: z.string(),
  exit_code: z.int(),
  enrichment: z.object({
    match_count: z.int().nullable(),
    truncated: z.boolean(),
    handle: z.string().nullable(),
    tokens_estimate: z.int(),
  }),
  telemetry: z.object({
    latency_ms: z.number(),
    agent_id: z.string(),
    budget_remaining: z.int().nullable(),
  }),
});

type TeAnswer = z.output<typeof teAnswer>;

export const te_run = defineTool({
  name: "te_run",
  title: "Run a command, digested",
  description: "run_cmd with match counts and budget.",
  effects: ["run"],
  input: z.object({
    command: z.string().optional(),
    argv: z.array(z.string()).optional(),
    cwd: z.string().optional(),
    timeout_s: z.number().positive().optional(),
  }),
  output: teAnswer,
  exactly_one: ["command", "argv"],
  argument_aliases: { timeout: "timeout_s" },
  lean: ({
    stdout,
    stderr,
    exit_code,
    mode,
    enrichment: { match_count, handle },
    telemetry: { budget_remaining },
  }) => ({
    head: { exit_code, mode, match_count, handle, budget_remaining },
    body: stderr === "" ? stdout : `${stdout}${stdout === "" || stdout.endsWith("\n") ? "" : "\n"}[stderr]\n${stderr}`,
  }),
  async run(args, ctx) {
    const { ask, request, raw = false } = await unwrapTe(args);
    if (ask) return fromCommand(ctx, `te ${ask.ask}`, await answerTe(ctx, ask));
    const [exec, te] = [await ctx.exec(), await ctx.envelope()];
    const command = await exec.allow({ ...request, cwd: args.cwd });
    ctx.audit({ rule: command.rule });
    const timeout_s = args.timeout_s === undefined ? te.options.timeout : exec.timeout(args.timeout_s);
    if (te.options.enabled && te.options.script_path !== "" && !raw) {
      const answered = await byScript(ctx, command, timeout_s, te.options);
      if (answered) return answered;
      return fromRun(ctx, command, await runWatched(ctx, command, { timeout_s, raw: true }));
    }
    const ran = await runWatched(ctx, command, { timeout_s, raw });
    const answer = fromRun(ctx, command, ran);
    return te.options.json_mode ? answer : asText(answer);
  },
});

interface ScriptOptions {
  readonly json_mode: boolean;
  readonly passthrough_on_failure: boolean;
}

/** Through the operator's own te; undefined when it cannot be started and the command is to run without it. */
async function byScript(
  ctx: ToolContext,
  command: AllowedCommand,
  timeout_s: number,
  options: ScriptOptions,
): Promise<TeAnswer | undefined> {
  const exec = await ctx.exec();
  const words = [...(options.json_mode ? ["--json"] : []), command.name, ...command.words.slice(1)];
  let result: RunResult;
  try {
    const script = await exec.allowExecutable(TE_SCRIPT, words, command.cwd);
    result = await exec.run(ctx.principal, script, {
      timeout_s,
      signal: ctx.signal,
      session: ctx.session,
      keep: keeper(ctx, command.shown),
    });
  } catch (error) {
    if (error instanceof Fault && options.passthrough_on_failure) return undefined;
    throw error;
  }
  ctx.signal.throwIfAborted();
  if ([126, 127].includes(result.exit_code) && result.stdout === "") {
    if (options.passthrough_on_failure) return undefined;
    throw new Fault("internal_error", "The program in mcp.te.script_path cannot run.", {
      hint: "An operator must mend mcp.te.script_path.",
    });
  }
  return (
    (options.json_mode ? parsed(result.stdout) : undefined) ?? fromRun(ctx, command, { result, enveloped: undefined })
  );
}

function parsed(text: string): TeAnswer | undefined {
  try {
    return teAnswer.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

function fromRun(
  ctx: ToolContext,
  command: AllowedCommand,
  { result, enveloped }: { result: RunResult; enveloped: Enveloped | undefined },
): TeAnswer {
  const { stdout, stderr, exit_code, handle, truncated, duration_ms } = { ...result, ...enveloped };
  return {
    success: exit_code === 0,
    mode: enveloped?.mode ?? "raw",
    command: command.shown,
    stdout,
    stderr: result.timed_out ? `${stderr}[timed out]\n` : stderr,
    exit_code,
    enrichment: {
      match_count: enveloped?.match_count ?? null,
      truncated,
      handle: handle ?? null,
      tokens_estimate: enveloped?.tokens_estimate ?? Math.ceil((stdout.length + stderr.length) / 3.5),
    },
    telemetry: {
      latency_ms: enveloped?.latency_ms ?? duration_ms,
      agent_id: ctx.session.agent_id,
      budget_remaining: enveloped?.budget_remaining ?? null,
    },
  };
}

function fromCommand(ctx: ToolContext, command: string, { data, meta }: CommandAnswer): TeAnswer {
  return {
    success: true,
    mode: "raw",
    command,
    stdout: data.stdout,
    stderr: data.stderr,
    exit_code: 0,
    enrichment: {
      match_count: null,
      truncated: meta.truncated ?? false,
      handle: meta.handle ?? null,
      tokens_estimate: Math.ceil(data.stdout.length / 3.5),
    },
    telemetry: { latency_ms: meta.duration_ms, agent_id: ctx.session.agent_id, budget_remaining: null },
  };
}

/** As te prints it: the text says what the fields would. */
function asText(answer: TeAnswer): TeAnswer {
  const { handle, tokens_estimate, truncated } = answer.enrichment;
  const last = handle === null ? "" : `[exit ${answer.exit_code}; all of it: te --handle ${handle}]\n`;
  return {
    ...answer,
    stdout: `${answer.stdout}${last}`,
    enrichment: { match_count: null, truncated, handle: null, tokens_estimate },
  };
}
