/** Search against raw ripgrep: the same query, the same tree, in turns. `node bench/search.ts [files] [rounds]` */
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRoots } from "../src/base/path/index.ts";
import { findRipgrep } from "../src/engines/search/binary.ts";
import { createSearch, searchOptions } from "../src/engines/search/index.ts";

const FILES = Number(process.argv[2] ?? 25_000);
const ROUNDS = Number(process.argv[3] ?? 5);
const WORDS =
  "const return value index buffer stream reader await async handle error result length offset signal".split(" ");

const dir = mkdtempSync(join(tmpdir(), "llmc-bench-search-"));
const rg = findRipgrep("")[0]!.command;
const roots = createRoots({ roots: [dir] });
const search = createSearch(searchOptions.parse({}), { roots, state_dir: join(dir, ".llmc"), path: "" });
const root = roots.mint(".", "read");
const never = new AbortController().signal;
let grown = 0;

try {
  makeTree();
  const content =
    (pattern: string, max_results = 100) =>
    () =>
      search.content({ root, pattern, literal: false, ignore_case: true, context_lines: 3, max_results }, never);
  const rows = [
    await race("rare literal", content("zanzibar_marker"), ["-n", "-i", "-C3", "-e", "zanzibar_marker", "--", "./"]),
    await race("regex", content("mark(er|ing)_[0-9]{4}3\\b"), [
      "-n",
      "-i",
      "-C3",
      "-e",
      "mark(er|ing)_[0-9]{4}3\\b",
      "--",
      "./",
    ]),
    await race("file name", () => search.files({ root, pattern: "module_77", max_results: 200 }, never), [
      "--files",
      "--",
      "./",
    ]),
    await race("common literal, page of 100", content("buffer"), ["-n", "-i", "-C3", "-e", "buffer", "--", "./"]),
  ];
  console.table(rows);
  console.log(
    `${FILES} files; rss now ${mb(process.memoryUsage().rss)} MB, grown at most ${mb(grown)} MB over the start of the queries`,
  );
} finally {
  rmSync(dir, { recursive: true });
}

async function race(
  name: string,
  ours: () => Promise<{ total_hits: number; total_hits_is_lower_bound: boolean }>,
  argv: string[],
) {
  const mine: number[] = [];
  const raw: number[] = [];
  let hits = "";
  await ours();
  await rawRipgrep(argv);
  const rss = process.memoryUsage().rss;
  for (let round = 0; round < ROUNDS; round++) {
    mine.push(
      await timed(async () => {
        const result = await ours();
        hits = `${result.total_hits}${result.total_hits_is_lower_bound ? "+" : ""}`;
      }),
    );
    grown = Math.max(grown, process.memoryUsage().rss - rss);
    raw.push(await timed(() => rawRipgrep(argv)));
  }
  const [ourMs, rawMs] = [median(mine), median(raw)];
  return {
    query: name,
    hits,
    "ours ms": ourMs.toFixed(1),
    "rg ms": rawMs.toFixed(1),
    ratio: (ourMs / rawMs).toFixed(2),
  };
}

function rawRipgrep(argv: string[]): Promise<void> {
  return new Promise((done, fail) => {
    const child = spawn(rg, ["--no-config", ...argv], { cwd: dir, stdio: ["ignore", "pipe", "inherit"] });
    child.stdout!.resume();
    child.on("close", () => done()).on("error", fail);
  });
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1]!;
}

function mb(bytes: number): number {
  return Math.round(bytes / 1024 ** 2);
}

function makeTree(): void {
  let seed = 1;
  const random = (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) & 0x7fffffff;
    return seed % below;
  };
  const line = () => Array.from({ length: 4 + random(6) }, () => WORDS[random(WORDS.length)]).join(" ");
  const pool = Array.from({ length: 4000 }, line);
  for (let file = 0; file < FILES; file++) {
    const folder = join(dir, `pkg_${file % 40}`, `dir_${file % 23}`);
    if (file < 40 * 23) mkdirSync(folder, { recursive: true });
    const lines = Array.from({ length: 250 }, () => pool[random(pool.length)]!);
    if (file % 5000 === 77) lines[100] = "const zanzibar_marker = 1;";
    if (file % 10 === 3) lines[50] = `marker_${String(file).padStart(5, "0")}`;
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `module_${file}.ts`), `${lines.join("\n")}\n`);
  }
}
