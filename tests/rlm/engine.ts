import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { outlineOf } from "../../src/engines/rag/index.ts";
import { createRlm, type Query, type QueryResult, type Rlm } from "../../src/engines/rlm/index.ts";
import { rlmOptions, rlmPolicyOptions } from "../../src/engines/rlm/options.ts";
import { createSandbox, type Sandbox } from "../../src/engines/sandbox/index.ts";
import { sandboxOptions } from "../../src/engines/sandbox/options.ts";
import { LOCAL } from "../harness/bed.ts";
import { type ModelServer, startModelServer } from "./model-server.ts";
import { programmaticModel } from "./programmatic-model.ts";

/** The engine on a real sandbox that all runs of a test file share, and a model server for each. */
export interface Engine extends AsyncDisposable {
  readonly sandbox: Sandbox;
  start(options?: EngineOptions): Promise<Started>;
}

interface EngineOptions {
  readonly script?: Partial<Parameters<typeof startModelServer>[0]>;
  readonly policy?: Record<string, unknown>;
  readonly rlm?: Record<string, unknown>;
  /** Where the models are, when not at the server's own address. */
  readonly base_url?: string;
}

export interface Started extends AsyncDisposable {
  readonly rlm: Rlm;
  readonly server: ModelServer;
  query(task: string, context: string | Uint8Array, more?: Partial<Query>, signal?: AbortSignal): Promise<QueryResult>;
  /** The fault's code, or "ok". */
  code(task: string, context: string | Uint8Array, more?: Partial<Query>): Promise<string>;
}

export function createEngine(limits: Record<string, unknown> = {}): Engine {
  const state_dir = mkdtempSync(join(tmpdir(), "llmc-rlm-"));
  const path = process.env["PATH"] ?? "";
  const sandbox = createSandbox(sandboxOptions.parse(limits), { state_dir, path, max_sessions: 4 });
  return {
    sandbox,
    async start({ script, policy, rlm, base_url } = {}) {
      const server = await startModelServer({ model: programmaticModel, ...script });
      const at = base_url ?? server.url;
      const providers = {
        ollama_chat: { base_url: at },
        openai: { base_url: `${at}/v1` },
        anthropic: { base_url: `${at}/v1` },
        lab: { base_url: `${at}/own/`, api_key_env: "LAB_KEY" },
      };
      const made = createRlm(
        {
          policy: rlmPolicyOptions.parse(policy ?? {}),
          rlm: rlmOptions.parse({ root_model: "ollama_chat/tester", providers, ...rlm }),
        },
        { repl: sandbox, outline: outlineOf, secret: () => "test-key-4711" },
      );
      const query: Started["query"] = (task, context, more = {}, signal = new AbortController().signal) =>
        made.query(
          { owner: LOCAL, task, context: typeof context === "string" ? Buffer.from(context) : context, ...more },
          signal,
        );
      return {
        rlm: made,
        server,
        query,
        code: (task, context, more) =>
          query(task, context, more).then(
            () => "ok",
            (fault: { code?: string }) => fault.code ?? String(fault),
          ),
        async [Symbol.asyncDispose]() {
          made.close();
          await server[Symbol.asyncDispose]();
        },
      };
    },
    async [Symbol.asyncDispose]() {
      await sandbox.close();
      rmSync(state_dir, { recursive: true, force: true });
    },
  };
}

/** What a model of the programs' prices costs when all of the worst case is billed. */
export const priced = (input_usd_per_mtok: number, output_usd_per_mtok: number) => ({
  pricing: { "ollama_chat/tester": { input_usd_per_mtok, output_usd_per_mtok } },
});
