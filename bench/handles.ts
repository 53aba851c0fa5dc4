/** Handles against bare node:sqlite: the same fresh bytes in and out, in turns. `node bench/handles.ts [rounds]` */
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createRoots } from "../src/base/path/index.ts";
import { mintPrincipal } from "../src/base/principal.ts";
import { createHandles, handlesOptions } from "../src/engines/handles/index.ts";

const ROUNDS = Number(process.argv[2] ?? 120);
const MIB = 1024 ** 2;
const me = mintPrincipal("local", 0);
const dir = mkdtempSync(join(tmpdir(), "llmc-bench-handles-"));
const handles = createHandles(handlesOptions.parse({}), { state_dir: dir, roots: createRoots({ roots: [dir] }) });
const bare = new DatabaseSync(join(dir, "bare.db"));
bare.exec(
  "PRAGMA journal_mode = WAL; PRAGMA synchronous = normal; CREATE TABLE blob (id INTEGER PRIMARY KEY, data BLOB)",
);
const insert = bare.prepare("INSERT INTO blob (data) VALUES (?)");
const select = bare.prepare("SELECT data FROM blob WHERE id = ?");

try {
  const rows = [];
  for (const [name, size] of [
    ["10 KB", 10 * 1024],
    ["1 MB", MIB],
  ] as const)
    rows.push(await race(name, size));
  console.table(rows);
  await flat();
} finally {
  await handles.close();
  bare.close();
  rmSync(dir, { recursive: true });
}

async function race(name: string, size: number) {
  const ours: number[] = [];
  const floor: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const text = fresh(size);
    ours.push(
      await timed(async () => {
        const handle = await handles.put(me, text, { kind: "output" });
        await handles.readBytes(me, handle, 0, size);
      }),
    );
    floor.push(await timed(async () => select.get(insert.run(text).lastInsertRowid)));
  }
  const [put, raw] = [median(ours), median(floor)];
  return {
    "put + get": name,
    "ours p50 ms": put.toFixed(2),
    "sqlite p50 ms": raw.toFixed(2),
    ratio: (put / raw).toFixed(2),
  };
}

async function flat() {
  const block = fresh(MIB);
  async function* much() {
    for (let index = 0; index < 200; index++) {
      block.writeUInt32LE(index, 0);
      yield block;
    }
  }
  const before = process.memoryUsage().rss;
  const start = performance.now();
  const handle = await handles.put(me, much(), { kind: "output" });
  const put_s = (performance.now() - start) / 1000;
  const page = await timed(() => handles.readLines(me, handle, 4_000_000, 200));
  const grown = (process.memoryUsage().rss - before) / MIB;
  console.log(
    `200 MB streamed in: ${put_s.toFixed(2)} s; 200 lines from line 4,000,000: ${page.toFixed(2)} ms; rss grown ${grown.toFixed(0)} MB`,
  );
}

function fresh(size: number): Buffer {
  const bytes = Buffer.from(randomBytes(size / 2).toString("hex"));
  for (let at = 40; at < size; at += 41) bytes[at] = 10;
  return bytes;
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1]!;
}
