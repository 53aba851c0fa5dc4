import * as z from "zod";
import { Fault } from "../../../base/fault.ts";

interface HttpInput {
  readonly provider: "ollama" | "openai";
  readonly model: string;
  readonly url: URL;
  readonly api_key: string | undefined;
}

const MAX_BYTES = 64 * 1024 ** 2;
const numbers = z.array(z.number());
const ollama = z.object({ embeddings: z.array(numbers) });
const openai = z.object({ data: z.array(z.object({ index: z.int(), embedding: numbers })) });

/** Ollama's own endpoint, or any that speaks like OpenAI's. */
export function createHttpEmbedder({ provider, model, url, api_key }: HttpInput) {
  const base = url.href.replace(/\/$/, "");
  const endpoint = provider === "ollama" ? `${base}/api/embed` : `${base}/embeddings`;
  return async (texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]> => {
    const headers: Record<string, string> = { "content-type": "application/json" };
    if (api_key !== undefined) headers["authorization"] = `Bearer ${api_key}`;
    const answer = await ask(endpoint, { headers, body: JSON.stringify({ model, input: texts }), signal });
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

async function ask(
  endpoint: string,
  init: { headers: Record<string, string>; body: string; signal: AbortSignal },
): Promise<unknown> {
  // A redirect could lead to a host that nobody allowed.
  const response = await fetch(endpoint, { method: "POST", redirect: "error", ...init });
  if (!response.ok) throw new Fault("provider_error", `The embedding provider answered ${response.status}.`);
  if (Number(response.headers.get("content-length") ?? 0) > MAX_BYTES)
    throw new Fault("provider_error", "The embedding provider's answer is too large.");
  return await response.json();
}
