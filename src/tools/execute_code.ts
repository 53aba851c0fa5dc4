import * as z from "zod";
import type { ToolContext } from "../core/context.ts";
import { defineTool, type Lean } from "../core/tool.ts";
import type { ExecuteResult, SessionChoice } from "../engines/sandbox/index.ts";
import { codeTools } from "./code-mode.ts";

const output = z.object({
  stdout: z.string(),
  stderr: z.string(),
  exit_code: z.int(),
  result: z.unknown(),
  duration_ms: z.number(),
  memory_bytes: z.int(),
  limit: z.object({ name: z.string(), hint: z.string() }).optional(),
  files_changed: z.array(z.object({ path: z.string(), bytes: z.int() })),
  tool_calls: z.record(z.string(), z.int()),
  session_id: z.string().nullable(),
  handle: z.string().optional(),
});

export const execute_code = defineTool({
  name: "execute_code",
  title: "Run code",
  description: "Run code; variables persist. tools.* inside.",
  effects: ["run"],
  input: z.object({
    code: z.string(),
    language: z.enum(["javascript", "typescript", "python"]),
    session_id: z.string().optional(),
    timeout_s: z.number().positive().optional(),
  }),
  output: () => output,
  lean: leanResult,
  async run(args, ctx) {
    const sandbox = await ctx.sandbox();
    const { contents, ...result } = await sandbox.execute(ctx.principal, {
      code: args.code,
      language: args.language,
      session: sessionFor(args.session_id, ctx),
      timeout_s: args.timeout_s,
      signal: ctx.signal,
      depth: ctx.depth,
      ...codeTools(ctx),
      onProgress: (tail) => ctx.progress(tail.split("\n").slice(-3).join("\n").trim() || "running"),
    });
    if (result.files_changed.length === 0) return result as z.output<typeof output>;
    const handle = await keepFiles(ctx, result.files_changed, contents);
    return { ...result, ...(handle === undefined ? {} : { handle }) } as z.output<typeof output>;
  },
});

/** Without a name a call uses its caller's own session; code that runs code gets a new interpreter. */
function sessionFor(session_id: string | undefined, ctx: ToolContext): SessionChoice {
  if (session_id === "none") return { kind: "none" };
  if (session_id !== undefined && session_id !== "") return { kind: "named", session_id };
  if (ctx.depth > 0) return { kind: "none" };
  const isRemote = ctx.via === "http" || ctx.via === "rest";
  return { kind: "default", key: isRemote ? `remote:${ctx.session.session_id}` : `process:${process.pid}:${STARTED}` };
}

/** Two processes with one number are told apart by when they began. */
const STARTED = Math.round(performance.timeOrigin);

/** One file as it is; several one after the other, each under its name. */
async function keepFiles(
  ctx: ToolContext,
  files: ExecuteResult["files_changed"],
  contents: Uint8Array,
): Promise<string | undefined> {
  const parts: Uint8Array[] = [];
  let at = 0;
  for (const { path, bytes } of files) {
    if (at + bytes > contents.length) break;
    if (files.length > 1) parts.push(Buffer.from(`${at === 0 ? "" : "\n"}==> ${path} <==\n`));
    parts.push(contents.subarray(at, (at += bytes)));
  }
  if (parts.length === 0) return undefined;
  const path = files.length === 1 ? files[0]!.path : `${files.length} files`;
  return (await ctx.handles()).put(ctx.principal, Buffer.concat(parts), { kind: "file_content", path });
}

/** The value and how it ended first, then what was printed. */
function leanResult(payload: z.output<typeof output>): Lean {
  const { stdout, stderr, exit_code, result, limit, files_changed, handle } = payload;
  const head = {
    ...(exit_code === 0 ? {} : { exit_code }),
    ...(result === null ? {} : { result }),
    ...(limit ? { limit } : {}),
    ...(files_changed.length === 0 ? {} : { files_changed, handle }),
  };
  if (stderr === "") return { head, body: stdout };
  const gap = stdout === "" || stdout.endsWith("\n") ? "" : "\n";
  return { head, body: `${stdout}${gap}[stderr]\n${stderr}` };
}
