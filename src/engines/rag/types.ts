import type { GraphAnswer, PageRequest } from "./graph/answers.ts";
import type { Enrichment } from "./graph/enrich.ts";
import type { EnrichRequest } from "./graph/index.ts";
import type { Inspection, InspectRequest } from "./graph/inspect.ts";
import type { Progress } from "./indexer.ts";
import type { Direction, Scope } from "./options.ts";
import type { Plan } from "./plan.ts";

export interface SearchRequest {
  readonly q: string;
  readonly scope?: Scope | undefined;
  readonly k: number;
  readonly budget_tokens?: number | undefined;
}

export interface FoundSnippet {
  readonly text: string;
  /** `path#L1-L9` */
  readonly src: string;
  readonly score: number;
  readonly symbol?: string;
}

export interface SearchAnswer<Found = FoundSnippet> {
  readonly snippets: readonly Found[];
  readonly provenance: true;
  /** Whether something is known to have changed that is not in the answer. */
  readonly stale: boolean;
  /** Share of the files that are indexed, 0 to 1. */
  readonly coverage: number;
  /** What the caller should know: likeness could not be judged, say. */
  readonly note?: string;
}

export interface Stats {
  readonly phase: "empty" | "indexing" | "ready";
  readonly files: number;
  readonly chunks: number;
  readonly symbols: number;
  /** Chunks that have a vector of the configured maker. */
  readonly vectors: number;
  readonly languages: Readonly<Record<string, number>>;
  readonly skipped: Readonly<Record<string, number>>;
  readonly coverage: number;
  readonly stale: boolean;
  readonly watching: boolean;
  readonly head: string | null;
  readonly synced_at: string | null;
  readonly last_error: string | null;
}

export interface Estimate {
  readonly files: number;
  readonly bytes: number;
  /** How many of them are not in the index as they are now. */
  readonly changed: number;
}

export interface Bootload {
  readonly plan: string;
  readonly scope: Scope;
  readonly notes: string;
}

export interface Rag {
  search(request: SearchRequest, signal: AbortSignal): Promise<SearchAnswer>;
  /** A search whose snippets come with what stands around them in the graph. */
  searchEnriched(
    request: SearchRequest & EnrichRequest,
    signal: AbortSignal,
  ): Promise<SearchAnswer<FoundSnippet & Partial<Enrichment>>>;
  whereUsed(request: PageRequest, signal: AbortSignal): Promise<GraphAnswer>;
  lineage(request: PageRequest & { direction: Direction; depth: number }, signal: AbortSignal): Promise<GraphAnswer>;
  inspect(request: InspectRequest, signal: AbortSignal): Promise<Inspection>;
  /** What to read first for a task. */
  plan(request: { query: string; detail: "summary" | "full" }, signal: AbortSignal): Promise<Plan>;
  stats(): Promise<Stats>;
  bootload(request: { session_id: string; task_id: string }, signal: AbortSignal): Promise<Bootload>;
  /** Brings the whole index up to date. `force` lets a home folder or `/` be indexed, now and later. */
  build(options: { force?: boolean; progress?: (at: Progress) => void }, signal: AbortSignal): Promise<Progress>;
  estimate(): Promise<Estimate>;
  close(): Promise<void>;
}
