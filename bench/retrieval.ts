/**
 * Finds files from commit messages: `node bench/retrieval.ts <git directory> <set.jsonl> [<git directory> <set.jsonl> …] [--write]`.
 * A line of a set names a parent commit, a query and the files that the commit changed; the tree of the parent is searched.
 * `--write` puts the tables into docs/benchmarks.md.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { type Db, openDb } from "../src/base/db.ts";
import { countTokens } from "../src/core/tokens.ts";
import { pack, pick } from "../src/engines/rag/pack.ts";
import { rank } from "../src/engines/rag/rank.ts";
import { WEIGHTS, type Weights } from "../src/engines/rag/weights.ts";
import { type Case, nameOfSet, openHistory, readCases } from "./lib/history.ts";
import { createTable, scoreOf } from "./lib/retrieval-table.ts";

const even = Object.fromEntries(Object.keys(WEIGHTS.prior).map((kind) => [kind, 1])) as Weights["prior"];
const ABLATIONS: Readonly<Record<string, Weights>> = {
  "all of it": WEIGHTS,
  "names not above other words": { ...WEIGHTS, symbol: 1 },
  "paths not above other words": { ...WEIGHTS, file: 1, folder: 1 },
  "without paths": { ...WEIGHTS, file: 0, folder: 0 },
  "best chunk only": { ...WEIGHTS, tail: 0 },
  "without coverage": { ...WEIGHTS, coverage: 0 },
  "without exact names": { ...WEIGHTS, exact: 0 },
  "verbs of change count in full": { ...WEIGHTS, verbs: 1 },
  "identifiers only in parts": { ...WEIGHTS, wholes: 0 },
  "without pairs": { ...WEIGHTS, pairs: 0 },
  "without the place before a colon": { ...WEIGHTS, place: 1 },
  "all kinds of file alike": { ...WEIGHTS, prior: even },
};
const PACKED = [
  { tokens: 600, k: 5 },
  { tokens: 2000, k: 12 },
];

const pairs = process.argv.slice(2).filter((arg) => !arg.startsWith("--"));
const names: string[] = [];
const ndcg = createTable();
const more = createTable();
const ablation = createTable();
for (let index = 0; index + 1 < pairs.length; index += 2) await evaluate(pairs[index]!, pairs[index + 1]!);
const columns = [...names, "mean"];
const text = [
  ndcg.markdown("nDCG@10", columns),
  more.markdown("means", ["MRR", "recall@10", ...PACKED.map(({ tokens }) => `recall in ${tokens} tokens`)]),
  ablation.markdown("what is left out", ["nDCG@10", "recall@10", "source files only"]),
].join("\n\n");
console.log(text);
if (process.argv.includes("--write")) write(text);

async function evaluate(dir: string, set: string): Promise<void> {
  const name = nameOfSet(set);
  names.push(name);
  const history = openHistory(dir);
  const { db, splitter } = history;
  const plain = openDb(":memory:", { migrations: ["CREATE VIRTUAL TABLE plain USING fts5 (path UNINDEXED, body)"] });
  for (const one of readCases(set)) {
    const { changed, gone } = await history.goTo(one.parent);
    plain.transaction(() => {
      for (const path of [...gone, ...changed]) plain.run("DELETE FROM plain WHERE path = ?", path);
      for (const path of changed) {
        const body = history.text(path);
        if (body !== undefined) plain.run("INSERT INTO plain (path, body) VALUES (?, ?)", path, body);
      }
    });
    const file = (path: string) => history.text(path) ?? "";
    record("keyword count", byCount(one.query, history.paths(), file), one, name);
    record("BM25 on whole files", byPlain(plain, one.query), one, name);
    for (const [left, weights] of Object.entries(ABLATIONS)) {
      const ranking = rank(db, one.query, "repo", weights, splitter, 100);
      const score = scoreOf(
        ranking.files.map(({ path }) => path),
        one.relevant,
      );
      const source = ranking.files.filter(({ kind }) => kind === "source").map(({ path }) => path);
      ablation.add(left, "nDCG@10", score.ndcg);
      ablation.add(left, "recall@10", score.recall);
      ablation.add(left, "source files only", scoreOf(source, one.relevant).ndcg);
      if (weights !== WEIGHTS) continue;
      record(
        "llmc",
        ranking.files.map(({ path }) => path),
        one,
        name,
      );
      ndcg.add("llmc, source files only", name, scoreOf(source, one.relevant).ndcg);
      ndcg.add("llmc, source files only", "mean", scoreOf(source, one.relevant).ndcg);
      for (const { tokens, k } of PACKED) {
        const picked = pick(db, ranking.files, k);
        const read = new Map(picked.map((chunk) => [chunk.file.path, file(chunk.file.path)]));
        const quoted = pack(picked, read, {
          budget_tokens: tokens,
          splitter,
          ranking,
          tokens: countTokens,
          shown: (path) => path,
        });
        const found = one.relevant.filter((path) => quoted.some((snippet) => snippet.path === path));
        more.add("llmc", `recall in ${tokens} tokens`, found.length / one.relevant.length);
      }
    }
  }
  for (const open of [db, plain]) open.close();
}

function record(row: string, ranked: readonly string[], one: Case, name: string): void {
  const score = scoreOf(ranked, one.relevant);
  for (const column of [name, "mean"]) ndcg.add(row, column, score.ndcg);
  more.add(row, "MRR", score.mrr);
  more.add(row, "recall@10", score.recall);
}

function wordsOf(query: string): string[] {
  return [...new Set(query.toLowerCase().match(/[a-z0-9_]{3,}/g) ?? [])];
}

/** How many of the query's words stand in a file, then how often: what an agent with grep would do first. */
function byCount(query: string, paths: readonly string[], text: (path: string) => string): string[] {
  const words = wordsOf(query);
  const counted = paths.map((path) => {
    const body = text(path).toLowerCase();
    const times = words.map((word) => body.split(word).length - 1);
    const total = times.reduce((sum, n) => sum + n, 0);
    return { path, n: times.filter((n) => n > 0).length + total / (total + 1) };
  });
  return counted
    .filter(({ n }) => n > 0)
    .sort((a, b) => b.n - a.n)
    .map(({ path }) => path);
}

function byPlain(db: Db, query: string): string[] {
  const match = wordsOf(query)
    .map((word) => `"${word}"`)
    .join(" OR ");
  if (match === "") return [];
  return db
    .all<{ path: string }>("SELECT path FROM plain WHERE plain MATCH ? ORDER BY bm25(plain) LIMIT 10", match)
    .map(({ path }) => path);
}

/** Between its own marks: other benches write to the same page. */
function write(tables: string): void {
  const file = "docs/benchmarks.md";
  const [begin, end] = ["<!-- retrieval -->", "<!-- /retrieval -->"];
  const page = existsSync(file) ? readFileSync(file, "utf8") : "# Benchmarks\n";
  const block = `${begin}\n## Retrieval\n\nCommit messages as questions, the files that the commit changed as answers, the tree before it as what is searched\n(\`node bench/retrieval.ts\`, ${names.join(", ")}; full trees with tests and documents, one set of weights).\n\n${tables}\n${end}`;
  const at = page.indexOf(begin);
  const whole =
    at === -1
      ? `${page.trimEnd()}\n\n${block}\n`
      : page.slice(0, at) + block + page.slice(page.indexOf(end) + end.length);
  writeFileSync(file, whole);
}
