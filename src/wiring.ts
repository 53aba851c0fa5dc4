import { isAbsolute, relative, resolve } from "node:path";
import type { Roots } from "./base/path/index.ts";
import type { SharedStore } from "./base/store/shared.ts";
import type { Loaded } from "./config/load.ts";
import type { Engines } from "./core/context.ts";
import { prepareState } from "./core/state.ts";
import { countTokens } from "./core/tokens.ts";
import type { Rlm } from "./engines/rlm/index.ts";
import type { Telemetry } from "./engines/telemetry/index.ts";
import { lastCommit } from "./tools/last-commit.ts";
import { withTeScript } from "./tools/te.ts";

/** What tools may not touch besides the built-in names: the operator's rules, and recordings, which hold what models were sent. */
export function deniedPaths(loaded: Loaded): readonly string[] {
  const { replay_dir } = loaded.config.rlm;
  const rules = loaded.config.mcp.tools.denied_paths;
  if (replay_dir === undefined) return rules;
  const below = loaded.allowed_roots.map((root) => relative(root, resolve(loaded.root, replay_dir)));
  return [
    ...rules,
    ...below.filter((path) => path !== "" && !path.startsWith("..") && !isAbsolute(path)).map((path) => `rw:/${path}`),
  ];
}

/** Engines are made when a call first needs them: a start loads none. */
export function createEngines(
  loaded: Loaded,
  roots: Roots,
  telemetry: Telemetry,
  shared: SharedStore | undefined,
): { use: Engines; close(): Promise<void> } {
  const { mcp } = loaded.config;
  const { state_dir } = loaded;
  const path = loaded.env["PATH"] ?? "";
  const closing: (() => unknown)[] = [];
  const openShared = shared?.open;
  const use: Engines = {
    fs: once(async () => {
      const { createFs } = await import("./engines/fs/index.ts");
      const fs = createFs(mcp.maasl, { roots, state_dir, openShared });
      await fs.settled;
      closing.push(() => fs.close());
      return fs;
    }),
    sandbox: once(async () => {
      const { createSandbox } = await import("./engines/sandbox/index.ts");
      const max_sessions = mcp.limits.max_sessions_per_principal;
      const sandbox = createSandbox(mcp.sandbox, { state_dir, path, max_sessions, openShared });
      closing.push(() => sandbox.close());
      return sandbox;
    }),
    search: once(async () => {
      const { createSearch } = await import("./engines/search/index.ts");
      return createSearch(mcp.search, { roots, state_dir, path });
    }),
    envelope: once(async () => {
      const { createEnvelope } = await import("./engines/envelope/index.ts");
      const envelope = createEnvelope(
        { ...mcp.te, budgets: loaded.config.tool_envelope.budgets },
        {
          ...{ state_dir, countTokens, openShared },
          prepare: () => prepareState(state_dir),
          onDigest: (ms) => telemetry.digest(ms),
        },
      );
      closing.push(() => envelope.close());
      return envelope;
    }),
    exec: once(async () => {
      const { createExec } = await import("./engines/exec/index.ts");
      const exec = createExec(withTeScript(mcp.tools, mcp.te.script_path), {
        roots,
        denied: deniedPaths(loaded),
        state_dir,
        isolated: loaded.isolated,
        path,
        env: loaded.env,
      });
      closing.push(() => exec.close());
      return exec;
    }),
    rag: once(async () => {
      const { createRag } = await import("./engines/rag/index.ts");
      prepareState(state_dir);
      const denied = deniedPaths(loaded);
      const guard = { roots: loaded.allowed_roots, enforce: loaded.enforce_roots, denied, state_dir };
      const options = { rag: loaded.config.rag, search: mcp.rag };
      const root = roots.list[0] ?? loaded.root;
      const api_key = loaded.env[loaded.config.rag.embeddings.api_key_env ?? ""];
      const egress = mcp.rlm;
      const rag = createRag(options, {
        ...{ roots, guard, state_dir, root, api_key, egress, tokens: countTokens },
        ...(loaded.config.rlm.root_model === undefined ? {} : { summarize: bySummary(() => use.rlm()) }),
        lastCommit: async (path, signal) => lastCommit(await use.exec(), root, path, signal),
      });
      closing.push(() => rag.close());
      return rag;
    }),
    rlm: once(async () => {
      const { createRlm } = await import("./engines/rlm/index.ts");
      const rlm = createRlm(
        { policy: mcp.rlm, rlm: loaded.config.rlm },
        {
          repl: { hold: async (request) => (await use.sandbox()).hold(request) },
          outline: async (...args) => (await import("./engines/rag/index.ts")).outlineOf(...args),
          secret: (variable) => loaded.env[variable],
        },
      );
      closing.push(() => rlm.close());
      return rlm;
    }),
    handles: once(async () => {
      const { createHandles } = await import("./engines/handles/index.ts");
      const handles = createHandles(mcp.handles, { state_dir, roots, openShared });
      closing.push(() => handles.close());
      return handles;
    }),
  };
  return {
    use,
    async close() {
      for (const end of closing.reverse()) await end();
    },
  };
}

/** A line about a piece of code, written by the model that rlm_query would ask, under the same rules and for next to nothing. */
function bySummary(rlm: () => Promise<Rlm>) {
  const limits = { max_output_tokens: 120, budget_usd: 0.01 };
  return async (text: string, signal: AbortSignal) =>
    (await rlm()).complete(`In one sentence, what is this code for?\n\n${text}`, limits, signal);
}

/** Made at most once; a making that failed is tried again by the next call. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () =>
    (made ??= make().catch((error: unknown) => {
      made = undefined;
      throw error;
    }));
}
