import { Fault } from "../base/fault.ts";
import type { ToolContext } from "../core/context.ts";
import type { TeAsk } from "../engines/envelope/index.ts";
import type { ExecOptions } from "../engines/exec/options.ts";
import { isHandle } from "../engines/handles/types.ts";
import type { CommandAnswer } from "./commands.ts";

/** Under this name the gate knows the program that stands in for our own te. No operator's executable can have it. */
export const TE_SCRIPT = "te:script";

/** The gate's options with mcp.te.script_path as a program that runs shut in: it may lie where a model can write. */
export function withTeScript(options: ExecOptions, script_path: string): ExecOptions {
  if (script_path === "") return options;
  const script = { command: [script_path], description: "", class: "project_code" as const };
  return { ...options, executables: { ...options.executables, [TE_SCRIPT]: script } };
}

interface Asked {
  readonly command?: string | undefined;
  readonly argv?: readonly string[] | undefined;
}

export type TeQuestion = Exclude<TeAsk, { ask: "run" }>;

interface Unwrapped {
  /** `te --handle …` and its like: answered here, no program is started. */
  readonly ask?: TeQuestion;
  readonly request: Asked;
  readonly raw?: boolean;
}

/** `te COMMAND` is the command: it passes the gate as itself. */
export async function unwrapTe({ command, argv }: Asked): Promise<Unwrapped> {
  const isTe = argv ? argv[0] === "te" : /^\s*te(\s|$)/.test(command ?? "");
  if (!isTe) return { request: { command, argv } };
  const { teAsk } = await import("../engines/envelope/index.ts");
  const asked = teAsk({ command, argv })!;
  if (asked.ask !== "run") return { ask: asked, request: {} };
  return { request: { command: asked.command, argv: asked.argv }, ...(asked.raw ? { raw: true } : {}) };
}

/** What te answers about itself, to a model. Only the caller's own handles and figures. */
export async function answerTe(ctx: ToolContext, asked: TeQuestion): Promise<CommandAnswer> {
  ctx.audit({ rule: "te" });
  switch (asked.ask) {
    case "handle":
      return page(ctx, asked.handle, asked.chunk ?? 0);
    case "list": {
      const all = await (await ctx.handles()).list(ctx.principal, 50);
      return said(
        all
          .map(
            ({ handle, state, bytes, kind, path }) =>
              `${handle} ${state} ${bytes} ${kind}${path === undefined ? "" : ` ${path}`}\n`,
          )
          .join(""),
      );
    }
    case "stats": {
      const { statsTable } = await import("../engines/envelope/index.ts");
      const stats = await (await ctx.envelope()).stats(ctx.principal);
      return said(asked.json ? `${JSON.stringify(stats)}\n` : statsTable(stats));
    }
    default:
      throw new Fault("invalid_args", "te takes a command, --handle ID [--chunk N], --list-handles or --stats.");
  }
}

async function page(ctx: ToolContext, handle: string, chunk: number): Promise<CommandAnswer> {
  if (!isHandle(handle)) throw new Fault("invalid_args", "That is no handle: they look like res_….");
  const { content, meta } = await (await ctx.handles()).readChunk(ctx.principal, handle, chunk, ctx.signal);
  const more = meta.truncated ? `[chunk ${chunk}; next: te --handle ${handle} --chunk ${chunk + 1}]\n` : "";
  return said(content, more, meta.truncated ? handle : undefined);
}

function said(stdout: string, stderr = "", handle?: string): CommandAnswer {
  return {
    data: { stdout, stderr, exit_code: 0, signal: null, timed_out: false },
    meta: {
      mode: "raw",
      ...(handle === undefined ? {} : { handle, truncated: true }),
      isolation: "process",
      duration_ms: 0,
    },
  };
}
