import * as z from "zod";
import type { SafePath } from "../base/path/index.ts";
import type { ToolContext } from "../core/context.ts";
import { defineTool } from "../core/tool.ts";
import { isHandle, orNoHandle } from "../engines/handles/types.ts";

const MIB = 1024 * 1024;

const meta = z.object({
  path: z.string(),
  length: z.int(),
  truncated: z.boolean(),
  next_offset_bytes: z.int().optional(),
  size: z.int().optional(),
  handle: z.string().optional(),
  replaced: z.boolean().optional(),
  binary: z.boolean().optional(),
  state: z.string().optional(),
  progress: z.string().optional(),
});

type Payload = { data: string; meta: z.output<typeof meta> };

export const read_file = defineTool({
  name: "read_file",
  title: "Read a file",
  description: "Read a file or handle.",
  effects: ["read"],
  input: z.object({
    path: z.string(),
    offset_bytes: z.int().min(0).default(0),
    max_bytes: z
      .int()
      .min(1)
      .max(8 * MIB)
      .default(MIB),
  }),
  output: () => z.object({ data: z.string(), meta }),
  bulk: "data",
  timed: "read",
  lean: ({ data, meta }, args) => {
    const { path, length: _length, truncated, ...rest } = meta;
    return {
      head: { ...(path === args.path ? {} : { path }), ...(truncated ? { truncated } : {}), ...rest },
      body: data,
    };
  },
  shortened: (payload, args, body) => {
    const length = Buffer.byteLength(body);
    const size = payload.meta.size ?? args.offset_bytes + payload.meta.length;
    return {
      data: body,
      meta: { ...payload.meta, length, size, truncated: true, next_offset_bytes: args.offset_bytes + length },
    };
  },
  async run(args, ctx) {
    return isHandle(args.path)
      ? readHandle(args.path, args.offset_bytes, args.max_bytes, ctx)
      : readPath(ctx.roots.mint(args.path, "read"), args, ctx);
  },
});

/** A slice of a file, with the way to the rest of it. */
async function readPath(
  path: SafePath,
  args: { offset_bytes: number; max_bytes: number },
  ctx: ToolContext,
): Promise<Payload> {
  const fs = await ctx.fs();
  using file = fs.open(path);
  const slice = await fs.readBytes(file, args.offset_bytes, args.max_bytes, ctx.signal);
  if (args.offset_bytes === 0 && slice.text.slice(0, 8192).includes("\0"))
    return { data: "", meta: { path: file.shown, length: 0, truncated: false, binary: true, size: slice.total_bytes } };
  if (!slice.truncated)
    return {
      data: slice.text,
      meta: { path: file.shown, length: slice.length, truncated: false, ...(slice.replaced ? { replaced: true } : {}) },
    };
  const handles = await ctx.handles();
  const handle = await orNoHandle(handles.putFile(ctx.principal, file, { kind: "file_content", path: file.shown }));
  return {
    data: slice.text,
    meta: {
      path: file.shown,
      length: slice.length,
      truncated: true,
      next_offset_bytes: args.offset_bytes + slice.length,
      size: slice.total_bytes,
      ...(slice.replaced ? { replaced: true } : {}),
      ...(handle === null ? {} : { handle }),
    },
  };
}

async function readHandle(handle: string, offset: number, max_bytes: number, ctx: ToolContext): Promise<Payload> {
  const { bytes, total_bytes, info } = await (await ctx.handles()).readBytes(ctx.principal, handle, offset, max_bytes);
  const end = offset + bytes.length;
  return {
    data: Buffer.from(bytes).toString("utf8"),
    meta: {
      path: handle,
      length: bytes.length,
      truncated: end < total_bytes,
      ...(end < total_bytes ? { next_offset_bytes: end, size: total_bytes } : {}),
      ...(info.state === "done" ? {} : { state: info.state }),
      ...(info.progress === null || info.state !== "running" ? {} : { progress: info.progress }),
    },
  };
}
