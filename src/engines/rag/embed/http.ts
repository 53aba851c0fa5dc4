import * as z from "zod";
import { Fault } from "../../../base/fault.ts";
import { createEgress, createPoster, type EgressRules, NetworkError } from "../../../base/net/index.ts";

interface HttpInput {
  readonly provider: "ollama" | "openai";
  readonly model: string;
  readonly url: URL;
  readonly api_key: string | undefined;
  readonly egress: EgressRules;
}

const numbers = z.array(z.number());
const ollama = z.object({ embeddings: z.array(numbers) });
const openai = z.object({ data: z.array(z.object({ index: z.int(), embedding: numbers })) });

/** Ollama's own endpoint, or any that speaks like OpenAI's. */
export function createHttpEmbedder({ provider, model, url, api_key, egress }: HttpInput) {
  const base = url.href.replace(/\/$/, "");
  const endpoint = new URL(provider === "ollama" ? `${base}/api/embed` : `${base}/embeddings`);
  const { post } = createPoster(createEgress(egress));
  const headers: Record<string, string> = api_key === undefined ? {} : { authorization: `Bearer ${api_key}` };
  return async (texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]> => {
    const { status, body } = await post(endpoint, headers, JSON.stringify({ model, input: texts }), signal).catch(
      unreached,
    );
    if (status !== 200) throw new Fault("provider_error", `The embedding provider answered ${status}.`);
    const answer = parsed(body);
    const vectors =
      provider === "ollama"
        ? ollama.parse(answer).embeddings
        : openai
            .parse(answer)
            .data.sort((a, b) => a.index - b.index)
            .map((one) => one.embedding);
    return vectors.map((vector) => Float32Array.from(vector));
  };
}

function unreached(error: unknown): never {
  if (!(error instanceof NetworkError)) throw error;
  throw new Fault("provider_error", `The embedding provider cannot be reached (${error.message}).`, {
    retryable: true,
  });
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    throw new Fault("provider_error", "The embedding provider's answer is no JSON.");
  }
}
