import * as z from "zod";
import type { AllowedCommand } from "../base/command.ts";
import { Fault } from "../base/fault.ts";
import type { ToolContext } from "../core/context.ts";
import { defineTool } from "../core/tool.ts";
import type { Enveloped, TeAnswer } from "../engines/envelope/index.ts";
import type { RunResult } from "../engines/exec/index.ts";
import { keeper, runWatched } from "./commands.ts";
import { answerTe, TE_SCRIPT, type TeQuestion, unwrapTe } from "./te.ts";

const teOutput = z.object({
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
  output: () => teOutput,
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
    if (ask) return fromQuestion(ctx, ask);
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
    const answer = await fromRun(ctx, command, ran);
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
    return teOutput.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

async function fromRun(
  ctx: ToolContext,
  command: AllowedCommand,
  { result, enveloped }: { result: RunResult; enveloped: Enveloped | undefined },
): Promise<TeAnswer> {
  const { teAnswer } = await import("../engines/envelope/index.ts");
  return teAnswer(command.shown, ctx.session.agent_id, result, enveloped);
}

/** What te says of itself, in the same shape. */
async function fromQuestion(ctx: ToolContext, ask: TeQuestion): Promise<TeAnswer> {
  const { teAnswer } = await import("../engines/envelope/index.ts");
  const { data, meta } = await answerTe(ctx, ask);
  const { truncated = false, handle, duration_ms } = meta;
  return teAnswer(`te --${ask.ask}`, ctx.session.agent_id, { ...data, truncated, handle, duration_ms });
}

/** As te prints it: the text says what the fields would. */
async function asText(answer: TeAnswer): Promise<TeAnswer> {
  const { teText } = await import("../engines/envelope/index.ts");
  const { tokens_estimate, truncated } = answer.enrichment;
  return {
    ...answer,
    stdout: teText(answer),
    enrichment: { match_count: null, truncated, handle: null, tokens_estimate },
  };
}
