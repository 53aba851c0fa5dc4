/** The code graph: who uses what, what it is made of, what to read first. Stored with the index, answered from the files as they are now. */
import { lstatSync } from "node:fs";
import { join } from "node:path";
import type { Db } from "../../../base/db.ts";
import type { Likeness } from "../embed/likeness.ts";
import type { Freshness } from "../fresh.ts";
import type { Direction, EnrichMode } from "../options.ts";
import type { Snippet } from "../pack.ts";
import { type Plan, planOf } from "../plan.ts";
import type { Ranking } from "../rank.ts";
import { PER_FILE } from "../schema.ts";
import type { Splitter } from "../terms.ts";
import { answerLineage, answerUses, type GraphAnswer, type PageRequest } from "./answers.ts";
import { definedIn, type Enrichment, enrich } from "./enrich.ts";
import { type Commit, type Inspection, type InspectRequest, inspect } from "./inspect.ts";
import { createScenes, type Scene } from "./scene.ts";
import { createSummaries, type Summarize } from "./summaries.ts";

export interface GraphDeps {
  readonly db: Db;
  readonly root: string;
  readonly splitter: Splitter;
  readonly fresh: Freshness;
  readonly likeness: Likeness;
  tokens(text: string): number;
  shown(path: string): string;
  /** The text of a file as it is indexed, if it holds what it should. */
  read(path: string, holding?: string): string | undefined;
  lastCommit?: ((path: string, signal: AbortSignal) => Promise<Commit | undefined>) | undefined;
  summarize?: Summarize | undefined;
}

export interface EnrichRequest {
  readonly enrich_mode: EnrichMode;
  readonly graph_depth: number;
  readonly include_features: boolean;
  /** Whether a model may be asked to write the summaries. */
  readonly may_leave: boolean;
}

export interface Graph {
  whereUsed(request: PageRequest, signal: AbortSignal): Promise<GraphAnswer>;
  lineage(request: PageRequest & { direction: Direction; depth: number }, signal: AbortSignal): Promise<GraphAnswer>;
  inspect(request: InspectRequest, signal: AbortSignal): Promise<Inspection>;
  plan(request: { query: string; detail: "summary" | "full" }, rank: () => Ranking, signal: AbortSignal): Promise<Plan>;
  /** What stands around each snippet, within so many tokens for all. */
  enrich(
    snippets: readonly Snippet[],
    request: EnrichRequest,
    budget: number,
    signal: AbortSignal,
  ): Promise<{ more: Enrichment[]; note?: string }>;
}

/** A file that changes while it is quoted is looked at again this often. */
const ROUNDS = 3;
const MAX_ALIKE = 4;

export function createGraph(deps: GraphDeps): Graph {
  const { db, root, fresh } = deps;
  const touched = new Set<string>();
  const scenes = createScenes({
    ...deps,
    shown(path) {
      touched.add(path);
      return deps.shown(path);
    },
  });
  const summaries = createSummaries(db, deps.summarize);

  /**
   * Answers from what is indexed. When a file of the answer turns out to have changed, once more; and before it says that there is
   * nothing, it makes sure.
   */
  async function settled<T extends object>(
    signal: AbortSignal,
    work: (scene: Scene) => T | Promise<T>,
    isEmpty: (answer: T) => boolean = () => false,
  ): Promise<T> {
    let isSettled = await fresh.settle(signal);
    for (let round = 1; ; round++) {
      signal.throwIfAborted();
      touched.clear();
      const isLast = round === ROUNDS;
      const answer = await tried(() => work(scenes()), isLast || isSettled);
      if (answer === undefined || (isEmpty(answer) && !isSettled && !isLast)) {
        isSettled = await fresh.settle(signal, true);
        continue;
      }
      const dirty = [...touched].filter(hasMoved);
      if (dirty.length === 0 || isLast) return answer;
      await fresh.refresh(dirty);
    }
  }

  /** What is not found may not be indexed yet. */
  async function tried<T>(work: () => T | Promise<T>, isFinal: boolean): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      if (isFinal || (error as { code?: string }).code !== "file_not_found") throw error;
      return undefined;
    }
  }

  function hasMoved(path: string): boolean {
    const row = db.get<{ changed_ms: number }>("SELECT changed_ms FROM files WHERE path = ?", path);
    return lstatSync(join(root, path), { throwIfNoEntry: false })?.ctimeMs !== row?.changed_ms;
  }

  async function alike(text: string, own: string, signal: AbortSignal): Promise<{ near: string[]; note?: string }> {
    const { near, note } = await deps.likeness.judge(text, signal);
    const rows = near.flatMap(({ chunk }) => {
      const row = db.get<{ path: string; first: number; last: number }>(
        `SELECT f.path AS path, c.first AS first, c.last AS last FROM chunks c JOIN files f ON f.id = c.id / ${PER_FILE} WHERE c.id = ?`,
        chunk,
      );
      return row && row.path !== own ? [`like ${deps.shown(row.path)}#L${row.first}-L${row.last}`] : [];
    });
    return { near: rows.slice(0, MAX_ALIKE), ...(note === undefined ? {} : { note }) };
  }

  return {
    whereUsed: (request, signal) => settled(signal, (scene) => answerUses(scene, request), isNothing),
    lineage: (request, signal) => settled(signal, (scene) => answerLineage(scene, request), isNothing),
    inspect: (request, signal) =>
      settled(signal, (scene) => inspect(scene, request, async (path) => deps.lastCommit?.(path, signal), deps.tokens)),
    plan: ({ query, detail }, rank, signal) => settled(signal, (scene) => planOf(db, scene, rank(), query, detail)),
    async enrich(snippets, request, budget, signal) {
      const scene = scenes();
      const more: Enrichment[] = [];
      let note: string | undefined;
      for (const snippet of snippets) {
        const file = scene.view.fileAt(snippet.path);
        if (!file) continue;
        const hasDefs = definedIn(scene.view.defsOf(file), snippet.first, snippet.last).length > 0;
        const mode = request.enrich_mode === "auto" ? (hasDefs ? "graph" : "vector") : request.enrich_mode;
        const options = {
          depth: request.graph_depth,
          isGraph: mode !== "vector",
          wants_features: request.include_features,
        };
        const found = enrich(scene, { file, ...snippet }, options);
        const like = mode === "graph" ? { near: [] } : await alike(snippet.text, snippet.path, signal);
        if (request.enrich_mode !== "auto")
          note ??= deps.likeness.maker === undefined && mode !== "graph" ? NO_VECTORS : like.note;
        const written = request.may_leave && (await summaries(`${found.summary}\n\n${snippet.text}`, signal));
        const whole = { ...found, neighbors: [...found.neighbors, ...like.near], summary: written || found.summary };
        more.push(within(whole, budget / snippets.length, deps.tokens));
      }
      return { more, ...(note === undefined ? {} : { note }) };
    },
  };
}

/** No use, or nothing better than words. */
function isNothing({ items }: GraphAnswer): boolean {
  return items.every(({ kind }) => kind === "word");
}

const NO_VECTORS = "No vectors are configured (rag.embeddings), so nothing is found by likeness.";

/** Neighbours from the end, then the end of the summary, until it fits. */
function within(found: Enrichment, budget: number, tokens: (text: string) => number): Enrichment {
  const neighbors = [...found.neighbors];
  let { summary } = found;
  const cost = () => tokens(summary) + neighbors.reduce((sum, one) => sum + tokens(one) + 3, 0);
  while (neighbors.length > 1 && cost() > budget) neighbors.pop();
  while (summary.length > 60 && cost() > budget) summary = `${summary.slice(0, Math.floor(summary.length * 0.7))}…`;
  return { ...found, neighbors, summary };
}
