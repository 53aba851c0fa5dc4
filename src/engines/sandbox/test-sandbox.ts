import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { mintPrincipal, type Principal } from "../../base/principal.ts";
import { createSandbox, type ExecuteRequest, type ExecuteResult, type Sandbox } from "./index.ts";
import { type SandboxOptions, sandboxOptions } from "./options.ts";

export const ME: Principal = mintPrincipal("local", 1000);
export const OTHER: Principal = mintPrincipal("token", "other");

export interface SandboxBed extends AsyncDisposable {
  readonly sandbox: Sandbox;
  readonly state_dir: string;
  /** In a new interpreter. */
  once(code: string, language: ExecuteRequest["language"], more?: Partial<ExecuteRequest>): Promise<ExecuteResult>;
  /** In a named session. */
  within(session_id: string, code: string, more?: Partial<ExecuteRequest>): Promise<ExecuteResult>;
  /** A server that starts again on the same state. */
  restart(): Promise<SandboxBed>;
}

/** The engine with a real child, on a folder of its own. */
export function createSandboxBed(
  options: Partial<SandboxOptions> = {},
  state_dir?: string,
  path: string = process.env["PATH"] ?? "",
  max_sessions = 16,
): SandboxBed {
  const dir = state_dir ?? mkdtempSync(join(tmpdir(), "llmc-sandbox-"));
  const make = () =>
    createSandbox(sandboxOptions.parse(options), {
      state_dir: dir,
      path,
      max_sessions,
    });
  const sandbox = make();
  const base = { signal: new AbortController().signal, depth: 0 };
  let open = true;
  return {
    sandbox,
    state_dir: dir,
    once: (code, language, more = {}) =>
      sandbox.execute(ME, { code, language, session: { kind: "none" }, ...base, ...more }),
    within: (session_id, code, more = {}) =>
      sandbox.execute(ME, { code, language: "python", session: { kind: "named", session_id }, ...base, ...more }),
    async restart() {
      open = false;
      await sandbox.close();
      return createSandboxBed(options, dir);
    },
    async [Symbol.asyncDispose]() {
      if (!open) return;
      await sandbox.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
