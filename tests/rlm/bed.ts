import { type Bed, createBed } from "../harness/bed.ts";
import { type Chat, type ModelServer, startModelServer } from "./model-server.ts";
import { programmaticModel } from "./programmatic-model.ts";

export interface RlmPayload {
  readonly data: {
    readonly answer: string;
    readonly session_id: string;
    readonly budget_summary: { readonly total_cost_usd: number; readonly calls: number; readonly input_tokens: number };
    readonly trace?: readonly Record<string, unknown>[];
  };
  readonly meta: {
    readonly source: {
      readonly type: string;
      readonly path?: string;
      readonly bytes_read: number;
      readonly truncated: boolean;
    };
    readonly model_used: string;
    readonly trace_included: boolean;
    readonly stop_reason: string;
    readonly partial: boolean;
    readonly turns: number;
  };
}

export interface RlmBed extends AsyncDisposable {
  readonly bed: Bed;
  readonly server: ModelServer;
  query(args: Record<string, unknown>, more?: Parameters<Bed["call"]>[2]): Promise<RlmPayload>;
  /** The code of the fault, or "ok". */
  code(args: Record<string, unknown>): Promise<string>;
}

interface RlmBedOptions {
  readonly script?: Partial<Parameters<typeof startModelServer>[0]>;
  /** Lines of [mcp.rlm]. */
  readonly policy?: string;
  /** Lines of [rlm], and more sections after them. */
  readonly rlm?: string;
  readonly config?: string;
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
  readonly env?: Readonly<Record<string, string>>;
}

/** The configuration of a server whose models are all behind one address. */
export function rlmConfig(url: string, { policy = "", rlm = "", config = "" }: RlmBedOptions = {}): string {
  const root = /^root_model/m.test(rlm) ? "" : 'root_model = "ollama_chat/tester"\n';
  return `${config}\n[mcp.rlm]\n${policy}\n[rlm.providers.ollama_chat]\nbase_url = "${url}"\n[rlm.providers.openai]\nbase_url = "${url}/v1"\napi_key_env = "TEST_KEY"\n[rlm.providers.anthropic]\nbase_url = "${url}/v1"\napi_key_env = "TEST_KEY"\n[rlm]\n${root}${rlm}\n`;
}

/** The whole server and a model server behind it. */
export async function createRlmBed(options: RlmBedOptions = {}): Promise<RlmBed> {
  const server = await startModelServer({ model: programmaticModel, ...options.script });
  const bed = createBed({
    config: rlmConfig(server.url, options),
    ...(options.files ? { files: options.files } : {}),
    env: { TEST_KEY: "test-key-4711", ...options.env },
  });
  return {
    bed,
    server,
    query: (args, more) => bed.payload<RlmPayload>("rlm_query", args, more),
    async code(args) {
      const reply = await bed.call("rlm_query", args);
      return reply.ok ? "ok" : reply.fault.code;
    },
    async [Symbol.asyncDispose]() {
      await bed[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

/** A root model that writes the same code every time; sub-calls are echoed. */
export function writes(code: string, language = "javascript") {
  return ({ system, prompt }: Chat): string =>
    system.includes("only through code") ? `\`\`\`${language}\n${code}\n\`\`\`` : `read ${prompt.length}`;
}

/** Longer than what is sent whole. */
export const LONG = "A line of the text.\n".repeat(1000);
