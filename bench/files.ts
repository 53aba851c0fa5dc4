/** `node bench/files.ts`: what a file operation costs beside the bare system calls for it, in one interleaved run. */
import { execFileSync } from "node:child_process";
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRoots } from "../src/base/path/index.ts";
import { openSqlite } from "../src/base/store/sqlite.ts";
import { createFs } from "../src/engines/fs/index.ts";
import { createLocks } from "../src/engines/fs/locks/index.ts";
import { maaslOptions } from "../src/engines/fs/options.ts";
import { thisProcess } from "../src/engines/fs/process.ts";
import { LOCKS, storeFile } from "../src/engines/fs/store.ts";

type Work = () => Promise<unknown> | unknown;

interface Row {
  readonly name: string;
  readonly ours: Work;
  readonly floor?: Work;
  readonly floorName?: string;
  /** Untimed, after the floor: what it left to the disk must not be paid by the next of ours. */
  readonly settle?: Work;
  readonly goal: string;
  readonly runs: number;
}

const root = mkdtempSync(join(tmpdir(), "llmc-bench-"));
const state_dir = mkdtempSync(join(tmpdir(), "llmc-bench-state-"));
const at = (name: string) => join(root, name);
const roots = createRoots({ roots: [root] });
const fs = createFs(maaslOptions.parse({}), { roots, state_dir });
const call = { owner: "bench", signal: new AbortController().signal };
const read = (name: string) => roots.mint(name, "read");
const write = (name: string) => roots.mint(name, "write");

const line = `${"const value = compute(index, total);".padEnd(48)}\n`;
writeFileSync(at("small.ts"), line.repeat(200));
writeFileSync(at("mid.log"), line.repeat(Math.ceil((5 * 1024 ** 2) / line.length)));
writeFileSync(at("mega.ts"), `${line.repeat(Math.floor(1024 ** 2 / line.length))}// marker 0\n`);
mkdirSync(at("dir"));
for (let index = 0; index < 1000; index++) writeFileSync(at(`dir/file-${index}.ts`), "");
mkdirSync(at("tree"));
for (let folder = 0; folder < 1000; folder++) {
  mkdirSync(at(`tree/d${folder}`));
  for (let index = 0; index < 99; index++) writeFileSync(at(`tree/d${folder}/f${index}`), "");
}
const tenKb = "x".repeat(10 * 1024);
let marker = 0;
let floorMarker = 0;
writeFileSync(at("floor.ts"), readFileSync(at("mega.ts")));
const db = openSqlite(storeFile(mkdtempSync(join(state_dir, "locks-"))), LOCKS);
const locks = createLocks(maaslOptions.parse({}), db, thisProcess(), async () => {});
let grown = 0;

const rows: Row[] = [
  {
    name: "read 200 lines",
    ours: () => fs.readLines(read("small.ts"), 0, 200),
    floor: () => readFileSync(at("small.ts"), "utf8"),
    floorName: "readFileSync",
    goal: "< 0.15 ms",
    runs: 400,
  },
  {
    name: "stat",
    ours: () => fs.stat(read("small.ts")),
    floor: () => statSync(at("small.ts")),
    floorName: "statSync",
    goal: "< 0.05 ms",
    runs: 400,
  },
  {
    name: "200 lines at the middle of 5 MB, first",
    ours: () => {
      // A new version each time: its index is not known yet.
      writeFileSync(at("mid.log"), `${grown++}\n`, { flag: "a" });
      return fs.readLines(read("mid.log"), 53_000, 200);
    },
    floor: () => execFileSync("sed", ["-n", "53001,53200p;53200q", at("mid.log")]),
    floorName: "sed -n",
    goal: "<= 1.5 x",
    runs: 30,
  },
  { name: "the same, second", ours: () => fs.readLines(read("mid.log"), 53_000, 200), goal: "<= 6 x ping", runs: 200 },
  {
    name: "write 10 KB",
    ours: () => fs.write(write("w.ts"), tenKb, { mode: "rewrite" }, call),
    floor: rawWrite,
    floorName: "temp + fsync + rename",
    goal: "<= 3 x",
    runs: 200,
  },
  {
    name: "edit a line of 1 MB",
    ours: () => {
      const edit = { old_text: `// marker ${marker}\n`, new_text: `// marker ${++marker}\n`, expected_replacements: 1 };
      return fs.edit(write("mega.ts"), [edit], { dry_run: false }, call);
    },
    floor: () => {
      const text = readFileSync(at("floor.ts"), "utf8").replace(
        `// marker ${floorMarker}\n`,
        `// marker ${++floorMarker}\n`,
      );
      writeFileSync(at("floor.ts"), text);
    },
    floorName: "read + replace + write",
    settle: () => {
      const fd = openSync(at("floor.ts"), "r+");
      fsyncSync(fd);
      closeSync(fd);
    },
    goal: "<= 2 x",
    runs: 60,
  },
  {
    name: "list 1,000 entries",
    ours: () => fs.listDir(read("dir"), 1000, false),
    floor: () => readdirSync(at("dir"), { withFileTypes: true }),
    floorName: "readdir",
    goal: "<= 2 x",
    runs: 100,
  },
  {
    name: "tree of 100,000 files",
    ours: wholeTree,
    floor: () =>
      execFileSync("find", [at("tree"), "-mindepth", "1", "-printf", "%p %y %s %T+\\n"], { maxBuffer: 1 << 28 }),
    floorName: "find -printf",
    goal: "<= 2 x",
    runs: 5,
  },
  {
    name: "lock + unlock",
    ours: async () => (await locks.take([{ real: at("x.ts"), shown: "x.ts" }], "bench", call.signal)).release(),
    goal: "<= 0.3 ms",
    runs: 1000,
  },
];

console.log(
  `${"".padEnd(40)} ${"ours p50".padStart(10)} ${"p99".padStart(9)} ${"floor p50".padStart(10)} ${"ratio".padStart(7)}  goal`,
);
for (const row of rows) await measure(row);
fs.close();
db.close();
rmSync(root, { recursive: true });
rmSync(state_dir, { recursive: true });

async function measure(row: Row): Promise<void> {
  const ours: number[] = [];
  const floor: number[] = [];
  const before = process.memoryUsage.rss();
  await row.ours();
  const mb = ((process.memoryUsage.rss() - before) / 1024 ** 2).toFixed(0);
  for (let run = 0; run < Math.ceil(row.runs / 10); run++) {
    await row.ours();
    await row.floor?.();
  }
  for (let run = 0; run < row.runs; run++) {
    ours.push(await timed(row.ours));
    if (row.floor) floor.push(await timed(row.floor));
    await row.settle?.();
    // Each call starts from an idle loop, as a call from a client does.
    await new Promise((resolve) => setImmediate(resolve));
  }
  const p50 = at50(ours, 0.5);
  const base = row.floor ? at50(floor, 0.5) : undefined;
  const ratio = base === undefined ? "" : `${(p50 / base).toFixed(2)}x`;
  console.log(
    `${row.name.padEnd(40)} ${p50.toFixed(3).padStart(10)} ${at50(ours, 0.99).toFixed(3).padStart(9)} ${(base?.toFixed(3) ?? "").padStart(10)} ${ratio.padStart(7)}  ${row.goal}${row.floorName ? ` ${row.floorName}` : ""}, RSS +${mb} MB`,
  );
}

async function timed(work: Work): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

function at50(values: number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * share)]!;
}

function rawWrite(): void {
  const fd = openSync(at("floor.tmp"), "w");
  writeSync(fd, tenKb);
  fsyncSync(fd);
  closeSync(fd);
  renameSync(at("floor.tmp"), at("floor.out"));
}

async function wholeTree(): Promise<number> {
  let count = 0;
  for await (const batch of fs.walk(read("tree"), { depth: 10, include_hidden: true, signal: call.signal }))
    count += batch.length;
  return count;
}
