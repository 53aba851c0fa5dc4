/** Code of callers, run in WebAssembly: interpreters, sessions that outlive the server, a workspace of their own, and limits that hold. */
import { Fault } from "../../base/fault.ts";
import type { Principal } from "../../base/principal.ts";
import type { Schema, Store } from "../../base/store/types.ts";
import { findAssets } from "./assets.ts";
import { createHolding, type Held, type HoldRequest } from "./held.ts";
import { createHost } from "./host.ts";
import type { SandboxOptions } from "./options.ts";
import { listPackages, packagePaths, STANDARD_LIBRARY } from "./packages.ts";
import { createPool } from "./pool.ts";
import { runOn } from "./run.ts";
import { createSessions } from "./sessions.ts";
import { openSessionStore, type SessionStore } from "./store.ts";
import { localTenure, sharedTenure } from "./tenure.ts";
import type {
  CreatedSession,
  CreateSession,
  ExecuteRequest,
  ExecuteResult,
  Language,
  PackageInfo,
  RuntimeInfo,
  SessionInfo,
  WorkspaceInfo,
} from "./types.ts";

export type { SandboxOptions } from "./options.ts";
export { SESSIONS } from "./schema.ts";
export type { CallTool, ExecuteRequest, ExecuteResult, SessionChoice } from "./types.ts";

export interface Sandbox {
  execute(owner: Principal, request: ExecuteRequest): Promise<ExecuteResult>;
  createSession(owner: Principal, wanted: CreateSession): Promise<CreatedSession>;
  destroySession(owner: Principal, session_id: string): Promise<void>;
  sessions(owner: Principal): Promise<SessionInfo[]>;
  /** An interpreter for one caller, with texts and functions of its own; it is the caller's to end. */
  hold(request: HoldRequest): Promise<Held>;
  /** Ends all sessions of the caller; says how many there were. */
  resetAll(owner: Principal): Promise<number>;
  workspace(owner: Principal, session_id: string): Promise<WorkspaceInfo>;
  resetWorkspace(owner: Principal, session_id: string): Promise<void>;
  /** True when something ran and was told to stop. */
  cancel(owner: Principal, session_id: string): Promise<boolean>;
  /** Starts the child to see what it reaches. */
  runtimes(): Promise<RuntimeInfo[]>;
  packages(language?: Language): Promise<PackageInfo[]>;
  /** Interpreters that are there. */
  guests(): number;
  /** The child's process number, when it runs. */
  pid(): number | undefined;
  close(): Promise<void>;
}

interface SandboxDeps {
  readonly state_dir: string;
  /** Where bubblewrap is looked for. */
  readonly path: string;
  readonly max_sessions: number;
  /** Opens a part of the store that replicas share; without it the state folder holds a file. */
  readonly openShared?: ((schema: Schema) => Promise<Store>) | undefined;
}

const MIB = 1024 * 1024;
const PYTHON = "3.12.0";
const LANGUAGES = ["javascript", "python"] as const;

export function createSandbox(options: SandboxOptions, deps: SandboxDeps): Sandbox {
  const assets = findAssets();
  const paths = Object.fromEntries(
    LANGUAGES.map((language) => [language, packagePaths(language, assets.libraries, options.packages_dir)]),
  ) as Record<Language, string[]>;
  const host = createHost({
    assets,
    readable: [...assets.readable, ...Object.values(paths).flat()],
    require: options.require,
    path: deps.path,
    init: {
      wasm: assets.wasm,
      packages: paths,
      quotas: {
        memory_bytes: options.memory_mb * MIB,
        stdout_bytes: options.stdout_bytes,
        stderr_bytes: options.stderr_bytes,
        result_bytes: options.result_bytes,
        workspace_bytes: options.workspace_mb * MIB,
        workspace_files: options.workspace_files,
      },
    },
  });
  const pool = createPool(host, options);
  let opened: Promise<SessionStore> | undefined;
  /** Opened by the first session; a store that could not be opened is tried again. */
  const store = () =>
    (opened ??= openSessionStore(deps.state_dir, deps.openShared).catch((error: unknown) => {
      opened = undefined;
      throw error;
    }));
  const tenure = deps.openShared ? sharedTenure(store) : localTenure(store);
  const sessions = createSessions({ options, pool, store, tenure, max_sessions: deps.max_sessions });

  async function stateless(request: ExecuteRequest): Promise<ExecuteResult> {
    const guest = await pool.take(request.language === "typescript" ? "javascript" : request.language);
    if (request.signal.aborted) pool.give(guest);
    request.signal.throwIfAborted();
    const how = { stateless: true, reseed: true, cancel: new AbortController().signal };
    const { result, healthy, retire } = await runOn(guest, request, how, options);
    if (healthy && !retire) pool.give(guest);
    else guest.end();
    return { ...result, session_id: null };
  }

  let known_modules: Promise<PackageInfo[]> | undefined;
  async function standardLibrary(): Promise<PackageInfo[]> {
    const { result } = await stateless({
      code: STANDARD_LIBRARY,
      language: "python",
      session: { kind: "none" },
      signal: new AbortController().signal,
      depth: 0,
    });
    return (Array.isArray(result) ? result : []).map((name) => ({
      name: String(name),
      version: PYTHON,
      language: "python",
    }));
  }

  return {
    async execute(owner, request) {
      checkRequest(request, options);
      const result = request.session.kind === "none" ? await stateless(request) : await sessions.run(owner, request);
      request.signal.throwIfAborted();
      return result;
    },
    async createSession(owner, wanted) {
      if (wanted.session_id !== undefined && !/^(?!none$)[A-Za-z0-9][\w.-]{0,63}$/.test(wanted.session_id))
        throw new Fault("invalid_args", "A session_id has 1 to 64 letters, digits, dots, dashes or underscores.");
      const row = await sessions.create(owner, wanted);
      return {
        session_id: row.session_id,
        language: row.language,
        created_at: new Date(row.created_at).toISOString(),
        expires_at: new Date(row.created_at + options.hibernated_ttl_s * 1000).toISOString(),
      };
    },
    hold: createHolding(pool, options),
    destroySession: sessions.destroy,
    sessions: sessions.list,
    async resetAll(owner) {
      const all = await sessions.list(owner);
      for (const { session_id } of all) await sessions.destroy(owner, session_id).catch(() => {});
      return all.length;
    },
    async workspace(owner, session_id) {
      const { files, variables, imports } = await sessions.look(owner, session_id);
      const quota = { bytes: options.workspace_mb * MIB, files: options.workspace_files };
      return { session_id, files, variables, imports, quota };
    },
    resetWorkspace: sessions.reset,
    cancel: sessions.cancel,
    async runtimes() {
      const isolation = await host.isolation();
      const limits = {
        wall_s: options.wall_s,
        memory_mb: options.memory_mb,
        stdout_bytes: options.stdout_bytes,
        workspace_mb: options.workspace_mb,
        max_tool_calls: options.max_tool_calls,
      };
      return [
        { language: "javascript", version: "ES2023", engine: "QuickJS-ng 0.17 (WebAssembly)", isolation, limits },
        {
          language: "typescript",
          version: "types stripped",
          engine: "QuickJS-ng 0.17 (WebAssembly)",
          isolation,
          limits,
        },
        { language: "python", version: PYTHON, engine: "CPython (WebAssembly)", isolation, limits },
      ];
    },
    async packages(language) {
      const standard = language === "javascript" ? [] : await (known_modules ??= standardLibrary());
      const wanted = LANGUAGES.filter((one) => language === undefined || one === language);
      return [...wanted.flatMap((one) => listPackages(one, paths[one])), ...standard];
    },
    guests: host.guests,
    pid: host.pid,
    async close() {
      await sessions.close();
      pool.drain();
      await host.end();
      await (await opened?.catch(() => undefined))?.close();
      opened = undefined;
    },
  };
}

function checkRequest(request: ExecuteRequest, options: SandboxOptions): void {
  if (Buffer.byteLength(request.code) > options.code_bytes)
    throw new Fault("limit_exceeded", `The code is longer than ${options.code_bytes} bytes.`, {
      hint: "Put data into a file, or read it with a tool.",
    });
  if (request.depth >= options.max_depth)
    throw new Fault("limit_exceeded", `Code may run code ${options.max_depth - 1} deep.`, {
      hint: "Call the function itself instead.",
    });
}
