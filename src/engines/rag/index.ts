/** The index that finds the right code: chunks at definitions, ranked by words and names, quoted from the files as they are now. */
import { lstatSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type { Db } from "../../base/db.ts";
import { Fault } from "../../base/fault.ts";
import type { EgressRules } from "../../base/net/index.ts";
import { inside, type Roots, type RootsOptions } from "../../base/path/index.ts";
import { visible } from "../../base/text.ts";
import { bootload } from "./bootload.ts";
import { fuse } from "./embed/fuse.ts";
import { createLikeness } from "./embed/likeness.ts";
import { fact, setFact } from "./facts.ts";
import { createFreshness } from "./fresh.ts";
import { createGraph } from "./graph/index.ts";
import type { Commit } from "./graph/inspect.ts";
import type { Summarize } from "./graph/summaries.ts";
import { createRules } from "./ignored.ts";
import type { RagOptions, RagSearchOptions } from "./options.ts";
import { pack, pick, type Snippet } from "./pack.ts";
import { bytesOf, readQuoted } from "./quote.ts";
import { type Ranking, rank } from "./rank.ts";
import { coverageOf, statsOf } from "./stats.ts";
import { hashOf, openStore } from "./store.ts";
import { createSplitter } from "./terms.ts";
import type { Estimate, FoundSnippet, Rag, SearchAnswer, SearchRequest } from "./types.ts";
import { walk } from "./walk.ts";
import { WEIGHTS } from "./weights.ts";
import { createWriter } from "./writer.ts";

export type { GraphAnswer } from "./graph/answers.ts";
export type { Inspection } from "./graph/inspect.ts";
export type { Progress } from "./indexer.ts";
export type { RagOptions, RagSearchOptions, Scope } from "./options.ts";
export { outlineOf } from "./outline/index.ts";
export type { Plan } from "./plan.ts";
export type { Bootload, Estimate, Rag, SearchAnswer, SearchRequest, Stats } from "./types.ts";

interface RagDeps {
  readonly roots: Roots;
  /** What `roots` was made of: the indexing thread makes its own. */
  readonly guard: RootsOptions;
  readonly state_dir: string;
  /** The folder that is indexed. */
  readonly root: string;
  /** The value of the variable that rag.embeddings.api_key_env names. */
  readonly api_key?: string | undefined;
  /** Where embeddings may be asked for. Default: on this machine. */
  readonly egress?: EgressRules;
  /** What a text costs a model. */
  tokens(text: string): number;
  /** The last commit that touched a path below the root. */
  lastCommit?: ((path: string, signal: AbortSignal) => Promise<Commit | undefined>) | undefined;
  /** Writes a summary of a piece of code with a model, where one is configured. */
  summarize?: Summarize | undefined;
}

const HERE_ONLY: EgressRules = { profile: "restricted", allowed_hosts: [] };
/** A file that changes while it is quoted is looked at again this often. */
const ROUNDS = 3;
/** Files near the top are looked at too: one that changed may belong elsewhere. */
const LOOKED_AT = 12;
/** Of an enriched answer's budget this much is for quotes. */
const QUOTED = 0.65;

export function createRag(options: { rag: RagOptions; search: RagSearchOptions }, deps: RagDeps): Rag {
  const { root, roots, state_dir } = deps;
  const file = join(state_dir, "index.db");
  const db = openStore(file);
  const splitter = createSplitter();
  const embed = { options: options.rag.embeddings, api_key: deps.api_key, egress: deps.egress ?? HERE_ONLY };
  const likeness = createLikeness(db, embed);
  const writer = createWriter({ root, file, state_dir, guard: deps.guard, rag: options.rag, embed });
  const fresh = createFreshness(root, db, writer, options.rag.watch, () => void fill());
  const shown = (path: string) => visible(roots.shown(join(root, path)));
  const graph = createGraph({ ...deps, db, splitter, fresh, likeness, shown, read: indexedText });
  let filling: Promise<void> | undefined;

  /** A file's text, if it is what was indexed and holds what it should. */
  function indexedText(path: string, holding = ""): string | undefined {
    const bytes = bytesOf(roots, join(root, path), options.rag.max_file_bytes);
    if (!bytes?.includes(holding)) return undefined;
    const row = db.get<{ hash: string }>("SELECT hash FROM files WHERE path = ?", path);
    return row?.hash === hashOf(bytes) ? bytes.toString("utf8") : undefined;
  }

  /** In the background, one after the other: no search waits for it. */
  function fill(): Promise<void> {
    if (likeness.maker === undefined) return Promise.resolve();
    return (filling ??= writer
      .fill()
      .catch(likeness.failed)
      .finally(() => {
        filling = undefined;
      }));
  }
  const now = () => ({ watching: fresh.watching, isBehind: fresh.isBehind, maker: likeness.maker });

  async function search(
    request: { q: string; scope: "repo" | "docs" | "both"; k: number; budget_tokens: number },
    signal: AbortSignal,
  ) {
    mayIndex(root, db);
    let isSettled = await fresh.settle(signal);
    const { near, note } = await likeness.judge(request.q, signal);
    for (let round = 1; ; round++) {
      signal.throwIfAborted();
      const words = rank(db, request.q, request.scope, WEIGHTS, splitter);
      const ranking = fuse(db, words, near, request.scope, options.rag.embeddings.rrf_weight);
      const picked = pick(db, ranking.files, request.k);
      // Before it says that there is nothing, it makes sure.
      if (picked.length === 0 && !isSettled && round < ROUNDS) {
        isSettled = await fresh.settle(signal, true);
        continue;
      }
      const { texts, changed } = readQuoted(roots, root, picked, options.rag.max_file_bytes);
      const dirty = new Set([...changed, ...movedOn(ranking)]);
      if (dirty.size > 0 && round < ROUNDS) {
        await fresh.refresh([...dirty]);
        continue;
      }
      if (dirty.size > 0) isSettled = false;
      const kept = picked.filter((one) => texts.has(one.file.path));
      const snippets = pack(kept, texts, { ...request, splitter, ranking, tokens: deps.tokens, shown });
      return { snippets, isSettled, note };
    }
  }

  /** Files near the top whose time is not the one they were indexed at. */
  function movedOn({ files }: Ranking): string[] {
    return files.slice(0, LOOKED_AT).flatMap(({ path }) => {
      const row = db.get<{ changed_ms: number }>("SELECT changed_ms FROM files WHERE path = ?", path);
      const stat = lstatSync(join(root, path), { throwIfNoEntry: false });
      return row && stat?.ctimeMs === row.changed_ms ? [] : [path];
    });
  }

  /** The request with what is left open filled in, within what the operator allows. */
  function bounded(request: SearchRequest) {
    return {
      q: request.q,
      scope: request.scope ?? options.search.default_scope,
      k: Math.min(request.k, options.search.top_k),
      budget_tokens: Math.min(request.budget_tokens ?? options.search.token_budget, options.search.token_budget),
    };
  }

  function answer(snippets: readonly FoundSnippet[], isSettled: boolean, note: string | undefined): SearchAnswer {
    const coverage = coverageOf(db);
    const stale = !isSettled || coverage < 1;
    return { snippets, provenance: true, stale, coverage, ...(note === undefined ? {} : { note }) };
  }

  return {
    async search(request, signal) {
      const { snippets, isSettled, note } = await search(bounded(request), signal);
      return answer(
        snippets.map((one) => asFound(one, shown)),
        isSettled,
        note,
      );
    },
    async searchEnriched(request, signal) {
      const asked = bounded(request);
      const spent = Math.floor(asked.budget_tokens * QUOTED);
      const { snippets, isSettled, note } = await search({ ...asked, budget_tokens: spent }, signal);
      const { more, note: about } = await graph.enrich(snippets, request, asked.budget_tokens - spent, signal);
      const found = snippets.map((one, index) => ({ ...asFound(one, shown), ...more[index] }));
      return answer(found, isSettled, about ?? note);
    },
    async whereUsed(request, signal) {
      mayIndex(root, db);
      return graph.whereUsed(request, signal);
    },
    async lineage(request, signal) {
      mayIndex(root, db);
      return graph.lineage(request, signal);
    },
    async inspect(request, signal) {
      mayIndex(root, db);
      return graph.inspect(request, signal);
    },
    async plan(request, signal) {
      mayIndex(root, db);
      return graph.plan(request, () => rank(db, request.query, "repo", WEIGHTS, splitter), signal);
    },
    stats: async () => statsOf(db, now()),
    bootload: (request, signal) =>
      bootload(request, signal, {
        roots,
        root,
        budget_tokens: options.search.token_budget,
        scope: options.search.default_scope,
        tokens: deps.tokens,
        stats: async () => {
          mayIndex(root, db);
          await fresh.settle(signal);
          return statsOf(db, now());
        },
        search: async (q, budget_tokens) =>
          (
            await search({ q, scope: options.search.default_scope, k: options.search.top_k, budget_tokens }, signal)
          ).snippets.map((one) => asFound(one, shown)),
      }),
    async build({ force, progress }, signal) {
      if (force) setFact(db, "allowed", "yes");
      mayIndex(root, db);
      const stop = () => void writer.close();
      signal.addEventListener("abort", stop, { once: true });
      try {
        const at = await fresh.sync(progress);
        await fill();
        return at;
      } finally {
        signal.removeEventListener("abort", stop);
      }
    },
    async estimate(): Promise<Estimate> {
      let [files, bytes, changed] = [0, 0, 0];
      const rules = await createRules(root, options.rag.exclude);
      for (const seen of walk({ root, state_dir, rules })) {
        if (seen.size > options.rag.max_file_bytes) continue;
        const row = db.get<{ changed_ms: number }>("SELECT changed_ms FROM files WHERE path = ?", seen.path);
        files++;
        bytes += seen.size;
        if (row?.changed_ms !== seen.changed_ms) changed++;
      }
      return { files, bytes, changed };
    },
    async close() {
      fresh.close();
      await writer.close();
      db.close();
    },
  };
}

function asFound({ text, path, first, last, score, symbol }: Snippet, shown: (path: string) => string): FoundSnippet {
  const src = `${shown(path)}#L${first}-L${last}`;
  return { text, src, score, ...(symbol === undefined ? {} : { symbol }) };
}

/** A whole disk or a home folder is hardly ever meant. */
function mayIndex(root: string, db: Db): void {
  if (!(root === "/" || inside(homedir(), root)) || fact(db, "allowed") !== undefined) return;
  throw new Fault("invalid_args", `${root} is not indexed: it is a home folder or above one.`, {
    hint: "Serve a repository instead (--root), or run `llmc index --force` once if it is meant.",
  });
}
