/**
 * How fast a tree is indexed and asked: `node bench/index-speed.ts <folder> [more folders]`. The floor of indexing is reading the
 * same files; that of a query is SQLite counting the rows of its rarest word.
 */
import { mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRoots } from "../src/base/path/index.ts";
import { countTokens } from "../src/core/tokens.ts";
import { createRules } from "../src/engines/rag/ignored.ts";
import { createRag } from "../src/engines/rag/index.ts";
import { ragOptions, ragSearchOptions } from "../src/engines/rag/options.ts";
import { openStore } from "../src/engines/rag/store.ts";
import { walk } from "../src/engines/rag/walk.ts";

const signal = new AbortController().signal;

for (const folder of process.argv.slice(2)) {
  const root = realpathSync(folder);
  const state_dir = mkdtempSync(join(tmpdir(), "llmc-bench-"));
  const guard = { roots: [root], state_dir };
  const options = { rag: ragOptions.parse({}), search: ragSearchOptions.parse({}) };
  const rag = createRag(options, { roots: createRoots(guard), guard, state_dir, root, tokens: countTokens });
  try {
    const floor = await reading(root, state_dir);
    let rss = 0;
    const looking = setInterval(() => {
      rss = Math.max(rss, process.memoryUsage.rss());
    }, 50);
    const cpu = process.cpuUsage();
    const began = performance.now();
    const at = await rag.build({ force: true }, signal);
    const seconds = (performance.now() - began) / 1000;
    const used = process.cpuUsage(cpu);
    const cpuSeconds = (used.user + used.system) / 1e6;
    clearInterval(looking);
    const stats = await rag.stats();
    console.log(`\n${stats.files} files, ${stats.chunks} chunks, ${(at.bytes / 1e6).toFixed(1)} MB`);
    row(
      "indexing",
      `${(at.bytes / 1e6 / seconds).toFixed(2)} MB/s`,
      `reading ${(at.bytes / 1e6 / floor).toFixed(0)} MB/s`,
      seconds / floor,
    );
    row("per second of CPU", `${(at.bytes / 1e6 / cpuSeconds).toFixed(2)} MB`);
    row("RSS while indexing", `${(rss / 1e6).toFixed(0)} MB`);
    await asking(rag, state_dir);
  } finally {
    await rag.close();
    rmSync(state_dir, { recursive: true });
  }
}

async function reading(root: string, state_dir: string): Promise<number> {
  const began = performance.now();
  for (const { path } of walk({ root, state_dir, rules: await createRules(root, []) })) readFileSync(join(root, path));
  return (performance.now() - began) / 1000;
}

/** Questions of three to eight words that stand in the tree, rare and common. */
async function asking(rag: Awaited<ReturnType<typeof createRag>>, state_dir: string): Promise<void> {
  const db = openStore(join(state_dir, "index.db"));
  const words = db
    .all<{ term: string }>("SELECT term FROM vocabulary WHERE length(term) > 3 ORDER BY doc DESC LIMIT 6000")
    .map(({ term }) => term);
  const ours: number[] = [];
  const theirs: number[] = [];
  for (let n = 0; n < 120; n++) {
    const q = Array.from(
      { length: 3 + (n % 6) },
      (_, i) => words[(n * 7919 + i * i * 104_729 + i * 31) % words.length]!,
    );
    let began = performance.now();
    await rag.search({ q: q.join(" "), k: 3 }, signal);
    if (n >= 20) ours.push(performance.now() - began);
    began = performance.now();
    db.all("SELECT count(*) FROM terms WHERE terms MATCH ?", `"${q[0]}"`);
    if (n >= 20) theirs.push(performance.now() - began);
  }
  db.close();
  for (const share of [0.5, 0.95])
    row(
      `query p${share * 100}`,
      `${at(ours, share).toFixed(1)} ms`,
      `one word ${at(theirs, share).toFixed(2)} ms`,
      at(ours, share) / at(theirs, share),
    );
}

function at(values: number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * share)]!;
}

function row(what: string, ours: string, floor = "", ratio?: number): void {
  console.log(
    `${what.padEnd(20)} ${ours.padStart(12)}   ${floor.padEnd(24)} ${ratio === undefined ? "" : `x ${ratio.toFixed(1)}`}`,
  );
}
