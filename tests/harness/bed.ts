import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type App, createApp } from "../../src/app.ts";
import { Fault, type FaultCode } from "../../src/base/fault.ts";
import { mintPrincipal, type Principal } from "../../src/base/principal.ts";
import { loadConfig } from "../../src/config/load.ts";
import type { Call, Reply } from "../../src/core/dispatch.ts";

export interface Bed extends AsyncDisposable {
  readonly root: string;
  readonly app: App;
  /** One call as data: the payload, or the fault thrown. */
  call(name: string, args?: unknown, more?: Partial<Call>): Promise<Reply>;
  payload<T = Record<string, never>>(name: string, args?: unknown, more?: Partial<Call>): Promise<T>;
  /** What a model would read. */
  text(name: string, args?: unknown, more?: Partial<Call>): Promise<string>;
  write(path: string, content: string | Uint8Array): string;
}

interface BedOptions {
  /** Contents of llmc.toml; none: no file, and so hybrid mode. */
  readonly config?: string;
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly cli?: Readonly<Record<string, unknown>>;
  /** An existing folder to serve; it is not removed. */
  readonly root?: string;
  /** Where calls come from: from code in the sandbox instead of from outside. What a model reads is not asked for there. */
  readonly from?: "javascript" | "python" | undefined;
}

export const LOCAL: Principal = mintPrincipal("local", process.getuid?.() ?? 0);

/** A temporary repository and the whole server on it, without a transport. */
export function createBed(options: BedOptions = {}): Bed {
  const root = options.root ?? mkdtempSync(join(tmpdir(), "llmc-bed-"));
  const write = (path: string, content: string | Uint8Array): string => {
    const file = join(root, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
    return file;
  };
  if (options.config !== undefined) write("llmc.toml", options.config);
  for (const [path, content] of Object.entries(options.files ?? {})) write(path, content);
  const env = {
    LLMC_MCP_OBSERVABILITY_LOG_LEVEL: "error",
    ...(options.from === undefined ? {} : { LLMC_MCP_SANDBOX_RESULT_BYTES: String(8 * 1024 ** 2) }),
    ...options.env,
  };
  const app = createApp(loadConfig({ cwd: root, root, env, cli: options.cli }));

  const direct: Bed["call"] = (name, args = {}, more = {}) =>
    app.dispatch({
      name,
      args,
      principal: LOCAL,
      via: "cli",
      signal: new AbortController().signal,
      edge: "data",
      ...more,
    });

  const { from } = options;
  const call: Bed["call"] = (name, args = {}, more = {}) =>
    from === undefined || more.edge === "model" ? direct(name, args, more) : fromCode(direct, from, name, args);

  return {
    root,
    app,
    call,
    async payload<T>(name: string, args?: unknown, more?: Partial<Call>) {
      const reply = await call(name, args, more);
      if (!reply.ok) throw reply.fault;
      return reply.payload as T;
    },
    text: async (name, args, more) => (await call(name, args, { edge: "model", ...more })).text,
    write,
    async [Symbol.asyncDispose]() {
      await app.close();
      if (options.root === undefined) rmSync(root, { recursive: true, force: true });
    },
  };
}

interface Caught {
  readonly payload?: unknown;
  readonly fault?: { code: FaultCode; message: string; hint: string | null };
}

/** The call as code in the sandbox makes it, and what that code saw. */
async function fromCode(
  call: Bed["call"],
  language: "javascript" | "python",
  name: string,
  args: unknown,
): Promise<Reply> {
  const [tool, given] = [name, JSON.stringify(args)].map((text) => JSON.stringify(text));
  const program =
    language === "javascript"
      ? `let seen; try { seen = { payload: await tools[${tool}](JSON.parse(${given})) } } catch (e) { seen = { fault: { code: e.code, message: e.message, hint: e.hint ?? null } } } seen`
      : `import json\ntry:\n  seen = {"payload": tools[${tool}](json.loads(${given}))}\nexcept ToolError as e:\n  seen = {"fault": {"code": e.code, "message": str(e), "hint": e.hint}}\nseen`;
  const ran = await call("execute_code", { language, code: program, session_id: "none", timeout_s: 60 });
  if (!ran.ok) throw ran.fault;
  const { result, stderr } = ran.payload as { result: Caught | null; stderr: string };
  const { correlation_id } = ran;
  if (result?.fault) {
    const { code, message, hint } = result.fault;
    return { ok: false, correlation_id, text: "", fault: new Fault(code, message, hint === null ? {} : { hint }) };
  }
  if (result?.payload === undefined) throw new Error(`no answer from code: ${stderr}`);
  return { ok: true, correlation_id, text: "", payload: result.payload };
}
