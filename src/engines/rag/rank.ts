import type { Db } from "../../base/db.ts";
import { KINDS, type Kind } from "./kind.ts";
import type { Scope } from "./options.ts";
import { parseQuery, type Query } from "./query.ts";
import { PER_FILE } from "./schema.ts";
import type { Splitter } from "./terms.ts";
import { priorOf, type Weights } from "./weights.ts";

/** A file in the order of its worth, with its chunks in theirs. */
export interface Ranked {
  readonly file: number;
  readonly path: string;
  readonly hash: string;
  readonly kind: Kind;
  readonly score: number;
  readonly chunks: readonly { readonly id: number; readonly score: number }[];
  /** Terms of the query that stand in it, the most telling first. */
  readonly terms: readonly string[];
}

export interface Ranking {
  readonly files: readonly Ranked[];
  readonly query: Query;
  /** What each term that was looked up tells. */
  readonly worth: ReadonlyMap<string, number>;
}

/** Terms that are looked up at most, those that tell most first. */
const MAX_TERMS = 40;
/** Rows taken of one term at most: it tells little when it stands in more. */
const MAX_ROWS = 4_000;
const MAX_ROWS_LARGE = 1_500;
const LARGE = 50_000;
/** A term in more rows than this, and in more than this share of them, is left out when there are enough others. */
const COMMON_ROWS = 5_000;
const COMMON_SHARE = 0.025;
const ENOUGH = 3;
/** What a word that stands nearly everywhere still counts, as a share of its rarity. */
const FLOOR = 0.15;
const THEIR_FLOOR = 1e-6;
const NOTHING = 1e-4;
const MAX_FILES = 400;

interface Tally {
  score: number;
  /** Which terms stand in it. */
  readonly has: Set<number>;
}

export function rank(db: Db, text: string, scope: Scope, weights: Weights, splitter: Splitter, limit = 50): Ranking {
  const query = parseQuery(text, splitter, weights);
  const chunks = new Map<number, number>();
  const files = new Map<number, Tally>();
  const total = Math.max(1, db.get<{ n: number }>("SELECT count(*) AS n FROM chunks")!.n);
  const chosen = choose(db, query, total);
  const most = total > LARGE ? MAX_ROWS_LARGE : MAX_ROWS;
  for (const [index, { term, weight, rows }] of chosen.entries()) {
    const limited = rows > most ? `ORDER BY score LIMIT ${most}` : "";
    const sql = `SELECT rowid AS id, bm25(terms, ?, ?, ?, ?) AS score FROM terms WHERE terms MATCH ? ${limited}`;
    const hits = db.all<{ id: number; score: number }>(
      sql,
      ...[weights.symbol, weights.file, weights.folder, weights.body, `"${term}"`],
    );
    const share = weight * lift(total, hits);
    for (const { id, score } of hits) {
      chunks.set(id, (chunks.get(id) ?? 0) - score * share);
      const file = Math.floor(id / PER_FILE);
      const tally = files.get(file);
      if (tally) tally.has.add(index);
      else files.set(file, { score: 0, has: new Set([index]) });
    }
  }
  exactNames(db, query, chunks, weights);
  const worth = new Map(chosen.map((one) => [one.term, one.worth]));
  return { query, worth, files: byFile(db, chunks, files, chosen, scope, query, weights).slice(0, limit) };
}

interface Chosen {
  readonly term: string;
  readonly weight: number;
  readonly rows: number;
  readonly worth: number;
}

/**
 * SQLite counts a term in more than half of the rows as next to nothing, and in a small tree that is most of them: such scores
 * are lifted so that they still tell one row from another.
 */
function lift(total: number, hits: readonly { readonly score: number }[]): number {
  const best = hits.reduce((low, { score }) => Math.min(low, score), 0);
  return best > -NOTHING ? (FLOOR * idfOf(total, Math.min(total, hits.length))) / THEIR_FLOOR : 1;
}

function idfOf(total: number, rows: number): number {
  return Math.log(1 + (total - rows + 0.5) / (rows + 0.5));
}

/** All terms of a short query; of a long one those that are rare and often said. */
function choose(db: Db, query: Query, total: number): Chosen[] {
  const known: Chosen[] = [];
  for (const { term, weight } of query.terms) {
    const rows = db.get<{ doc: number }>("SELECT doc FROM vocabulary WHERE term = ?", term)?.doc ?? 0;
    if (rows === 0) continue;
    known.push({ term, weight, rows, worth: weight * idfOf(total, Math.min(rows, total)) });
  }
  const best = known.sort((a, b) => b.worth - a.worth).slice(0, MAX_TERMS);
  const rare = best.filter(({ rows }) => rows <= Math.max(COMMON_ROWS, total * COMMON_SHARE));
  return rare.length >= ENOUGH ? rare : best;
}

/** Where something of exactly this name is defined, for words that look like names. */
function exactNames(db: Db, query: Query, chunks: Map<number, number>, weights: Weights): void {
  if (weights.exact === 0) return;
  const top = Math.max(0, ...chunks.values());
  for (const name of query.identifiers) {
    const found = db.all<{ chunk: number }>("SELECT chunk FROM names WHERE name = ? LIMIT 20", name);
    for (const { chunk } of found) chunks.set(chunk, (chunks.get(chunk) ?? 0) + (top * weights.exact) / found.length);
  }
}

function byFile(
  db: Db,
  chunks: ReadonlyMap<number, number>,
  files: Map<number, Tally>,
  chosen: readonly Chosen[],
  scope: Scope,
  query: Query,
  weights: Weights,
): Ranked[] {
  const held = new Map<number, { id: number; score: number }[]>();
  for (const [id, score] of chunks) {
    const file = Math.floor(id / PER_FILE);
    const list = held.get(file);
    if (list) list.push({ id, score });
    else held.set(file, [{ id, score }]);
  }
  const all = chosen.reduce((sum, one) => sum + one.worth, 0) || 1;
  const scored = [...held].map(([file, list]) => {
    list.sort((a, b) => b.score - a.score);
    let share = 1;
    let score = 0;
    for (const chunk of list.slice(0, 8)) {
      score += chunk.score * share;
      share *= weights.tail;
    }
    let covered = 0;
    for (const index of files.get(file)?.has ?? []) covered += chosen[index]!.worth;
    return { file, list, score: score * (1 + (weights.coverage * covered) / all) };
  });
  scored.sort((a, b) => b.score - a.score);
  const ranked: Ranked[] = [];
  for (const { file, list, score } of scored.slice(0, MAX_FILES)) {
    const row = db.get<{ path: string; hash: string; kind: number }>(
      "SELECT path, hash, kind FROM files WHERE id = ?",
      file,
    );
    if (!row) continue;
    const kind = KINDS[row.kind]!;
    const prior = priorOf(weights, kind, scope, query.kinds);
    if (prior === 0) continue;
    const terms = [...(files.get(file)?.has ?? [])].sort((a, b) => a - b).map((index) => chosen[index]!.term);
    ranked.push({ file, path: row.path, hash: row.hash, kind, score: score * prior, chunks: list, terms });
  }
  return ranked.sort((a, b) => b.score - a.score || (a.path < b.path ? -1 : 1));
}
