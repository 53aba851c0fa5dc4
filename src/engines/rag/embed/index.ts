import { Fault } from "../../../base/fault.ts";
import { createEgress, type EgressRules } from "../../../base/net/index.ts";
import type { EmbeddingOptions } from "../options.ts";
import { createHttpEmbedder } from "./http.ts";
import { createModel2Vec } from "./model2vec.ts";

/** Turns texts into vectors of length 1. */
export interface Embedder {
  /** What made a vector: those of another maker are not compared with it. */
  readonly maker: string;
  documents(texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]>;
  query(text: string, signal: AbortSignal): Promise<Float32Array>;
}

export interface EmbedderInput {
  readonly options: EmbeddingOptions;
  /** The value behind `api_key_env`. */
  readonly api_key: string | undefined;
  /** Where code may be sent to: the same rules as for models. */
  readonly egress: EgressRules;
}

const MAX_CHARS = 6_000;

export function createEmbedder({ options, api_key, egress }: EmbedderInput): Embedder | undefined {
  const { provider, model, base_url, doc_prefix, query_prefix } = options;
  if (provider === "none") return undefined;
  const raw =
    provider === "model2vec"
      ? createModel2Vec(model)
      : createHttpEmbedder({ provider, model, url: checked(base_url ?? HOMES[provider], egress), api_key, egress });
  const embed = async (texts: readonly string[], prefix: string, signal: AbortSignal) => {
    const vectors = await raw(
      texts.map((text) => prefix + text.slice(0, MAX_CHARS)),
      signal,
    );
    if (vectors.length !== texts.length || vectors.some((one) => one.length !== vectors[0]!.length))
      throw new Fault("provider_error", "The embedding provider answered with the wrong number of vectors.");
    return vectors.map(unit);
  };
  return {
    maker: JSON.stringify([provider, model, base_url ?? "", doc_prefix]),
    documents: (texts, signal) => embed(texts, doc_prefix, signal),
    query: async (text, signal) => (await embed([text], query_prefix, signal))[0]!,
  };
}

const HOMES = { ollama: "http://127.0.0.1:11434", openai: "http://127.0.0.1:8000/v1" } as const;

/** What an address alone forbids is told at once; names are judged when they are connected to. */
function checked(text: string, egress: EgressRules): URL {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol))
    throw new Fault("invalid_args", "rag.embeddings.base_url is no http address.");
  createEgress(egress).check(url);
  return url;
}

function unit(vector: Float32Array): Float32Array {
  const length = Math.hypot(...vector) || 1;
  return vector.map((value) => value / length);
}
