import * as z from "zod";
import { inside } from "../base/path/index.ts";
import type { ToolContext } from "../core/context.ts";
import { defineTool } from "../core/tool.ts";
import type { Progress, Rlm, Text } from "../engines/rlm/index.ts";

const MAX_TASK = 5000;
/** A longer file is read from where it lies as the interpreter takes it: the server never has it whole. */
const IN_MEMORY_BYTES = 1024 * 1024;

const output = z.object({
  data: z.object({
    answer: z.string(),
    session_id: z.string(),
    budget_summary: z.object({
      total_cost_usd: z.number(),
      limit_usd: z.number(),
      remaining_usd: z.number(),
      calls: z.int(),
      input_tokens: z.int(),
      output_tokens: z.int(),
    }),
    trace: z.array(z.record(z.string(), z.unknown())).optional(),
  }),
  meta: z.object({
    source: z.object({
      type: z.enum(["path", "context"]),
      path: z.string().optional(),
      bytes_read: z.int(),
      truncated: z.boolean(),
    }),
    model_used: z.string(),
    trace_included: z.boolean(),
    stop_reason: z.enum(["answer", "small_input", "max_turns", "budget", "timeout"]),
    partial: z.boolean(),
    turns: z.int(),
  }),
});

export const rlm_query = defineTool({
  name: "rlm_query",
  title: "Ask about a long text",
  description: "Ask a model about a text too long to read; it never enters your context.",
  effects: ["egress"],
  leave_over_http: "mcp.rlm.allow_http",
  input: z.object({
    task: z.string().min(1).max(MAX_TASK),
    path: z.string().optional(),
    context: z.string().optional(),
    budget_usd: z.number().min(0.01).default(1),
    model: z.string().optional(),
    max_bytes: z.int().min(1).optional(),
    timeout_s: z.int().min(1).optional(),
    max_turns: z.int().min(1).default(5),
    language: z.string().max(40).optional(),
  }),
  exactly_one: ["path", "context"],
  output: () => output,
  lean: ({ data, meta }) => ({
    head: {
      stop_reason: meta.stop_reason,
      ...(meta.partial ? { partial: true } : {}),
      cost_usd: data.budget_summary.total_cost_usd,
      calls: data.budget_summary.calls,
      ...(data.trace ? { trace: data.trace } : {}),
    },
    body: data.answer,
  }),
  async run({ task, path, context, max_bytes, ...limits }, ctx) {
    const rlm = await ctx.rlm();
    using source = path === undefined ? fromContext(context!, rlm) : await fromFile(path, max_bytes, rlm, ctx);
    ctx.audit({ bytes_read: path === undefined ? 0 : source.text.length });
    const { answer, session_id, budget_summary, trace, ...meta } = await rlm.query(
      {
        ...limits,
        owner: ctx.principal,
        task,
        context: source.text,
        path: source.path,
        onProgress: (at) => ctx.progress(told(at), at.turn, at.max_turns),
        onEnd: ({ total_cost_usd }, model) => ctx.audit({ model, cost_usd: total_cost_usd }),
      },
      ctx.signal,
    );
    return {
      data: { answer, session_id, budget_summary, ...(trace ? { trace: trace.map((entry) => ({ ...entry })) } : {}) },
      meta: {
        source: {
          type: path === undefined ? ("context" as const) : ("path" as const),
          ...(source.path === undefined ? {} : { path: source.path }),
          bytes_read: source.text.length,
          truncated: false,
        },
        ...meta,
        trace_included: trace !== undefined,
        partial: meta.stop_reason !== "answer" && meta.stop_reason !== "small_input",
      },
    };
  },
});

interface Source extends Disposable {
  readonly text: Text;
  readonly path?: string;
}

function fromContext(context: string, rlm: Rlm): Source {
  const bytes = Buffer.from(context);
  rlm.files.checkSize(bytes.length, Number.POSITIVE_INFINITY);
  return { text: bytes, [Symbol.dispose]() {} };
}

/** Through the same guard as every file tool, and then through the rules of this one. */
async function fromFile(given: string, max_bytes: number | undefined, rlm: Rlm, ctx: ToolContext): Promise<Source> {
  rlm.files.checkGiven(given);
  const path = ctx.roots.mint(given, "read");
  const fs = await ctx.fs();
  using file = fs.open(path);
  for (const real of new Set([path.abs, file.real])) {
    const root = ctx.roots.list.find((folder) => inside(real, folder));
    rlm.files.checkResolved(root === undefined ? real.slice(1) : real.slice(root === "/" ? 1 : root.length + 1));
  }
  rlm.files.checkSize(file.stat.size, max_bytes);
  if (file.stat.size <= IN_MEMORY_BYTES)
    return { text: await fs.readWhole(file, ctx.signal), path: file.shown, [Symbol.dispose]() {} };
  const text = rlm.openText(file);
  return { text, path: file.shown, [Symbol.dispose]: () => text[Symbol.dispose]() };
}

/** Counts, and nothing of what is read or said. */
function told({ turn, max_turns, level, calls, cost_usd, tokens }: Progress): string {
  const deeper = level > 1 ? `, level ${level}` : "";
  return `turn ${turn}/${max_turns}${deeper}, ${calls} ${calls === 1 ? "call" : "calls"}, ${tokens} tokens, $${cost_usd.toFixed(4)}`;
}
