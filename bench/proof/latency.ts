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
import { type Contender, open, type Session } from "../lib/contender.ts";
import { median, percentile } from "../lib/servers.ts";
import type { Step } from "../peers/types.ts";

export interface LatencyRow {
  readonly name: string;
  /** Of the bare system calls, in the same run. */
  readonly floor: number | undefined;
  readonly p50: Readonly<Record<string, number | undefined>>;
  readonly p95: Readonly<Record<string, number | undefined>>;
}

const LINE = `${"const value = compute(index, total);".padEnd(48)}\n`;
const TEN_KB = "x".repeat(10 * 1024);
const MIDDLE = 50_000;

interface Case {
  readonly name: string;
  ask(session: Session, turn: number): Promise<unknown> | undefined;
  floor?(root: string, turn: number): void;
}

const first = (steps: readonly unknown[] | undefined) => steps?.[0] as Step | undefined;
const sent = (session: Session, steps: readonly unknown[] | undefined) => {
  const step = first(steps);
  return step && session.call(step);
};

const CASES: readonly Case[] = [
  { name: "ping", ask: (session) => session.ping() },
  {
    name: "stat",
    ask: (session) => sent(session, session.operations.stat?.("small.ts")),
    floor: (root) => void statSync(join(root, "small.ts")),
  },
  {
    name: "read 200 lines",
    ask: (session) => sent(session, session.operations.readLines?.("small.ts", 0, 200)),
    floor: (root) => void readFileSync(join(root, "small.ts"), "utf8"),
  },
  {
    name: "200 lines from the middle of 5 MB",
    ask: (session) => sent(session, session.operations.readLines?.("mid.log", MIDDLE, 200)),
    floor: (root) =>
      void readFileSync(join(root, "mid.log"), "utf8")
        .split("\n")
        .slice(MIDDLE, MIDDLE + 200),
  },
  {
    name: "write 10 KB",
    ask: (session, turn) => sent(session, session.operations.write?.(`out${turn % 4}.txt`, `${TEN_KB}${turn}`)),
    floor: (root, turn) => replaceWhole(join(root, `floor${turn % 4}.txt`), `${TEN_KB}${turn}`),
  },
  {
    name: "edit one line of 1 MB",
    ask: (session, turn) =>
      sent(session, session.operations.replace?.("mega.ts", `// marker ${turn} end`, `// marker ${turn + 1} end`, 1)),
    floor: (root, turn) => {
      const path = join(root, "mega-floor.ts");
      writeFileSync(path, readFileSync(path, "utf8").replace(`// marker ${turn} end`, `// marker ${turn + 1} end`));
    },
  },
  {
    name: "list 1,000 entries",
    ask: (session) => sent(session, session.operations.list?.("dir")),
    floor: (root) => void readdirSync(join(root, "dir"), { withFileTypes: true }),
  },
];

function replaceWhole(path: string, text: string): void {
  const descriptor = openSync(`${path}.tmp`, "w");
  writeSync(descriptor, text);
  fsyncSync(descriptor);
  closeSync(descriptor);
  renameSync(`${path}.tmp`, path);
}

function writeTree(root: string): void {
  writeFileSync(join(root, "small.ts"), LINE.repeat(200));
  writeFileSync(join(root, "mid.log"), LINE.repeat(Math.ceil((5 * 1024 ** 2) / LINE.length)));
  for (const name of ["mega.ts", "mega-floor.ts"])
    writeFileSync(join(root, name), `${LINE.repeat(Math.floor(1024 ** 2 / LINE.length))}// marker 0 end\n`);
  mkdirSync(join(root, "dir"));
  for (let index = 0; index < 1000; index++) writeFileSync(join(root, `dir/file-${index}.ts`), "");
}

/**
 * Another order every turn, the same in every run: some servers go on working after they have answered, and whoever always came
 * next would pay for that.
 */
function shuffled(count: number, turn: number): number[] {
  const order = Array.from({ length: count }, (_, index) => index);
  let seed = turn + 1;
  for (let last = count - 1; last > 0; last--) {
    seed = (seed * 48_271) % 2_147_483_647;
    const other = seed % (last + 1);
    [order[last], order[other]] = [order[other]!, order[last]!];
  }
  return order;
}

/** Every server up at once, each on a tree of its own; call by call in turns, so that all see the same machine. */
export async function measureLatency(
  contenders: readonly Contender[],
  turns: number,
  wrap: readonly string[],
): Promise<LatencyRow[]> {
  const roots = contenders.map(() => mkdtempSync(join(tmpdir(), "llmc-latency-")));
  const floor = mkdtempSync(join(tmpdir(), "llmc-latency-"));
  const sessions: Session[] = [];
  try {
    for (const root of [...roots, floor]) writeTree(root);
    for (const [index, contender] of contenders.entries()) sessions.push(await open(contender, roots[index]!, wrap));
    const rows: LatencyRow[] = [];
    for (const { name, ask, floor: raw } of CASES) {
      const times = contenders.map((): number[] => []);
      const floors: number[] = [];
      for (let turn = 0; turn < turns + 3; turn++) {
        for (const index of shuffled(sessions.length, turn)) {
          const session = sessions[index]!;
          const from = performance.now();
          const asked = ask(session, turn);
          if (asked === undefined) continue;
          await asked;
          if (turn >= 3) times[index]!.push(performance.now() - from);
        }
        const from = performance.now();
        raw?.(floor, turn);
        if (turn >= 3 && raw) floors.push(performance.now() - from);
      }
      const by = (of: (list: number[]) => number) =>
        Object.fromEntries(
          contenders.map((each, index) => [each.name, times[index]!.length > 0 ? of(times[index]!) : undefined]),
        );
      rows.push({
        name,
        floor: floors.length > 0 ? median(floors) : undefined,
        p50: by(median),
        p95: by((list) => percentile(list, 0.95)),
      });
    }
    return rows;
  } finally {
    for (const session of sessions) await session[Symbol.asyncDispose]();
    for (const root of [...roots, floor]) rmSync(root, { recursive: true, force: true });
  }
}
