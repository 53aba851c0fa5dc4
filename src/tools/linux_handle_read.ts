import * as z from "zod";
import { Fault } from "../base/fault.ts";
import { defineTool } from "../core/tool.ts";

/** Longer than this and clients hang up. */
const MAX_WAIT_S = 45;
/** A job that was told to stop gets this long to say that it did. */
const CANCEL_WAIT_S = 2;
const REST = "The rest of this line: read_file with the handle as path and offset_bytes.";

const meta = z.object({
  kind: z.string(),
  state: z.enum(["done", "running", "failed", "cancelled", "interrupted"]),
  progress: z.string().nullable(),
  total_lines: z.int(),
  total_lines_is_lower_bound: z.literal(true).optional(),
  truncated: z.boolean(),
  next_offset_lines: z.int().optional(),
  hint: z.string().optional(),
});

export const linux_handle_read = defineTool({
  name: "linux_handle_read",
  title: "Read a handle",
  description: "Read what is behind a handle (res_…), by lines or by chunk; wait for a running job, or cancel it.",
  effects: ["read"],
  never_late: true,
  input: z.object({
    handle: z.string(),
    offset_lines: z.int().min(0).optional(),
    chunk: z.int().min(0).optional(),
    max_lines: z.int().min(1).max(2000).default(200),
    wait_s: z.number().min(0).max(1800).default(0),
    cancel: z.boolean().default(false),
  }),
  output: () => z.object({ content: z.string(), meta }),
  bulk: "content",
  lean: ({ content, meta: { state, progress, truncated, ...rest } }) => ({
    head: { ...rest, ...(state === "done" ? {} : { state, progress }), ...(truncated ? { truncated } : {}) },
    body: content,
  }),
  shortened: (payload, args, body) => {
    const lines = body.split("\n").length - 1;
    const whole = args.chunk === undefined && lines > 0 ? body.slice(0, body.lastIndexOf("\n") + 1) : body;
    const next = whole.endsWith("\n") && args.chunk === undefined;
    return {
      content: whole,
      meta: {
        ...payload.meta,
        truncated: true,
        ...(next ? { next_offset_lines: (args.offset_lines ?? 0) + lines } : { hint: REST }),
      },
    };
  },
  async run({ handle, offset_lines, chunk, max_lines, wait_s, cancel }, ctx) {
    if (offset_lines !== undefined && chunk !== undefined)
      throw new Fault("invalid_args", "Give offset_lines or chunk, not both.");
    const handles = await ctx.handles();
    const stopping = cancel && (await handles.cancel(ctx.principal, handle));
    const patience = Math.min(Math.max(wait_s, stopping ? CANCEL_WAIT_S : 0), MAX_WAIT_S);
    if (patience > 0) await handles.wait(ctx.principal, handle, patience, ctx.signal);
    const page =
      chunk === undefined
        ? await handles.readLines(ctx.principal, handle, offset_lines ?? 0, max_lines, ctx.signal)
        : await handles.readChunk(ctx.principal, handle, chunk, ctx.signal);
    const { line_cut, ...facts } = page.meta;
    return { content: page.content, meta: { ...facts, ...(line_cut ? { hint: REST } : {}) } };
  },
});
