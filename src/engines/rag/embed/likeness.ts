import type { Db } from "../../../base/db.ts";
import { Fault } from "../../../base/fault.ts";
import { createEmbedder, type Embedder, type EmbedderInput } from "./index.ts";
import { createVectors, type Vectors } from "./vectors.ts";

interface Judged {
  readonly near: ReturnType<Vectors["nearest"]>;
  readonly note?: string;
}

/** Which chunks are like a question, where vectors are configured. It is never in the way: a provider that fails is a note. */
export interface Likeness {
  readonly maker: string | undefined;
  judge(q: string, signal: AbortSignal): Promise<Judged>;
  failed(error: unknown): void;
}

const QUERY_MS = 1_500;
/** A provider that failed is not asked again for this long. */
const REST_MS = 30_000;
const MAX_NEAR = 60;

export function createLikeness(db: Db, input: EmbedderInput): Likeness {
  let embedder: Embedder | undefined;
  let note: string | undefined;
  let resting = 0;
  try {
    embedder = createEmbedder(input);
  } catch (error) {
    note = told(error);
  }
  const vectors = embedder && createVectors(db, embedder.maker);

  function failed(error: unknown): void {
    resting = Date.now() + REST_MS;
    note = told(error);
  }

  return {
    maker: embedder?.maker,
    failed,
    async judge(q, signal) {
      if (!embedder || !vectors || Date.now() < resting) return { near: [], ...(note === undefined ? {} : { note }) };
      try {
        const vector = await embedder.query(q, AbortSignal.any([signal, AbortSignal.timeout(QUERY_MS)]));
        note = undefined;
        return { near: vectors.nearest(vector, MAX_NEAR) };
      } catch (error) {
        signal.throwIfAborted();
        failed(error);
        return { near: [], note: told(error) };
      }
    },
  };
}

/** Only our own words: an answer of a provider could hold anything. */
function told(error: unknown): string {
  const why = error instanceof Fault ? error.message : "The embedding provider cannot be reached.";
  return `Ranked by words alone. ${why}`;
}
