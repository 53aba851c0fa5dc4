/**
 * Finds files from commit messages: `node bench/retrieval.ts <git directory> <set.jsonl> [<git directory> <set.jsonl> …]`.
 * Each line of a set names a parent commit, a query and the files that the commit changed. `--write` puts the tables into docs/benchmarks.md.
 */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { isForeignFolder, skipByContent, skipByName } from "../src/engines/rag/admit.ts";
import { createParser } from "../src/engines/rag/parse.ts";
import { rank } from "../src/engines/rag/rank.ts";
import { openStore, type Prepared, prepare, put, remove } from "../src/engines/rag/store.ts";
import { createSplitter } from "../src/engines/rag/terms.ts";
import { WEIGHTS, type Weights } from "../src/engines/rag/weights.ts";

interface Case {
  readonly parent: string;
  readonly query: string;
  readonly body: string;
  readonly relevant: readonly string[];
}
const variants: Record<string, Weights> = { now: WEIGHTS };
if (process.env["VARIANTS"]) Object.assign(variants, (await import(process.env["VARIANTS"])).default(WEIGHTS));

function git(dir: string, args: string[], input?: string): Buffer {
  const ran = spawnSync("git", ["--git-dir", dir, ...args], { input, maxBuffer: 1024 ** 3 });
  if (ran.status !== 0) throw new Error(`git ${args.join(" ")}: ${ran.stderr}`);
  return ran.stdout;
}
function tree(dir: string, commit: string): Map<string, string> {
  const files = new Map<string, string>();
  for (const line of git(dir, ["ls-tree", "-r", "-z", commit]).toString("utf8").split("\0")) {
    const match = /^100\d+ blob (\w+)\t(.*)$/s.exec(line);
    if (!match) continue;
    const path = match[2]!;
    if (skipByName(path) || path.split("/").some(isForeignFolder)) continue;
    files.set(path, match[1]!);
  }
  return files;
}
function blobs(dir: string, hashes: string[]): Map<string, Buffer> {
  const out = git(dir, ["cat-file", "--batch"], `${hashes.join("\n")}\n`);
  const found = new Map<string, Buffer>();
  for (let at = 0; at < out.length; ) {
    const end = out.indexOf(10, at);
    const [hash, , size] = out.toString("utf8", at, end).split(" ");
    found.set(hash!, out.subarray(end + 1, end + 1 + Number(size)));
    at = end + 2 + Number(size);
  }
  return found;
}
function metrics(ranked: readonly string[], relevant: readonly string[]) {
  let dcg = 0,
    ideal = 0,
    found = 0,
    mrr = 0;
  for (let i = 0; i < 10; i++) {
    if (i < relevant.length) ideal += 1 / Math.log2(i + 2);
    if (ranked[i] !== undefined && relevant.includes(ranked[i]!)) {
      dcg += 1 / Math.log2(i + 2);
      found++;
      if (!mrr) mrr = 1 / (i + 1);
    }
  }
  return { ndcg: dcg / ideal, recall: found / relevant.length, mrr };
}

const args = process.argv.slice(2).filter((a) => !a.startsWith("--"));
const withBody = process.argv.includes("--body");
for (let i = 0; i < args.length; i += 2) {
  const dir = args[i]!;
  const cases = readFileSync(args[i + 1]!, "utf8")
    .trim()
    .split("\n")
    .map((l) => JSON.parse(l) as Case);
  const db = openStore(":memory:");
  const parser = createParser();
  const splitter = createSplitter();
  const cache = new Map<string, Prepared | undefined>();
  let current = new Map<string, string>();
  const sums: Record<string, { ndcg: number; recall: number; mrr: number; src: number; n: number }> = {};
  const t0 = performance.now();
  for (const one of cases) {
    const next = tree(dir, one.parent);
    const changed = [...next].filter(([p, h]) => current.get(p) !== h);
    const wanted = changed.filter(([p, h]) => !cache.has(`${h} ${p}`));
    const data = wanted.length ? blobs(dir, [...new Set(wanted.map(([, h]) => h))]) : new Map();
    for (const [p, h] of wanted) {
      const bytes = data.get(h)!;
      cache.set(
        `${h} ${p}`,
        bytes.length > 1024 ** 2 || skipByContent(bytes) ? undefined : await prepare(p, bytes, 0, parser, splitter),
      );
    }
    db.transaction(() => {
      for (const p of current.keys()) if (!next.has(p)) remove(db, p);
      for (const [p, h] of changed) {
        const prepared = cache.get(`${h} ${p}`);
        if (prepared) put(db, prepared, splitter);
        else remove(db, p);
      }
    });
    current = next;
    for (const [name, weights] of Object.entries(variants)) {
      const { files } = rank(db, withBody ? `${one.query}\n${one.body}` : one.query, "repo", weights, splitter, 400);
      const m = metrics(
        files.map((f) => f.path),
        one.relevant,
      );
      const s = metrics(
        files.filter((f) => f.kind === "source").map((f) => f.path),
        one.relevant,
      );
      const sum = (sums[name] ??= { ndcg: 0, recall: 0, mrr: 0, src: 0, n: 0 });
      sum.ndcg += m.ndcg;
      sum.recall += m.recall;
      sum.mrr += m.mrr;
      sum.src += s.ndcg;
      sum.n++;
      if (process.env["MISSES"] && name === "now" && m.ndcg < 0.35)
        console.log(
          one.query,
          one.relevant,
          files.slice(0, 4).map((f) => `${f.path} ${f.score.toFixed(1)}`),
          files.findIndex((f) => one.relevant.includes(f.path)),
        );
    }
  }
  console.log(dir.slice(-20), ((performance.now() - t0) / 1000).toFixed(1), "s", current.size, "files");
  for (const [name, s] of Object.entries(sums))
    console.log(
      JSON.stringify({
        name,
        ndcg: +(s.ndcg / s.n).toFixed(4),
        recall: +(s.recall / s.n).toFixed(4),
        mrr: +(s.mrr / s.n).toFixed(4),
        src: +(s.src / s.n).toFixed(4),
      }),
    );
}
