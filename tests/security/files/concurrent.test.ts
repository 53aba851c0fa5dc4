import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createRoots, type Roots } from "../../../src/base/path/index.ts";
import { type Fs, openFs } from "./ops.ts";

const CHILD = fileURLToPath(new URL("./editor.child.ts", import.meta.url));
let root: string;
let roots: Roots;
let fs: Fs;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "llmc-many-"));
  roots = createRoots({ roots: [root] });
  fs = openFs(root);
});
afterEach(async () => {
  await fs.close();
  rmSync(root, { recursive: true, force: true });
});

const call = { owner: "test", signal: new AbortController().signal };
const lines = (count: number) => Array.from({ length: count }, (_, index) => `line ${index}.\n`).join("");

/** Every edit that was reported done is in the file, every other line is as it was. */
async function expectExactly(name: string, count: number, done: readonly number[]): Promise<void> {
  const edited = new Set(done);
  const expected = Array.from(
    { length: count },
    (_, index) => `${edited.has(index) ? "LINE" : "line"} ${index}.\n`,
  ).join("");
  expect(readFileSync(join(root, name), "utf8")).toBe(expected);
  expect(readdirSync(root).sort()).toEqual([".llmc", name]);
  expect(await fs.locks()).toEqual([]);
}

async function editFromHere(name: string, count: number): Promise<{ done: number[]; refused: string[] }> {
  const done: number[] = [];
  const refused: string[] = [];
  const one = async (line: number) => {
    const edit = { old_text: `line ${line}.\n`, new_text: `LINE ${line}.\n`, expected_replacements: 1 };
    await fs.edit(roots.mint(name, "write"), [edit], { dry_run: false }, call).then(
      () => done.push(line),
      (fault) => refused.push(fault.code),
    );
  };
  await Promise.all(Array.from({ length: count }, (_, line) => one(line)));
  return { done, refused };
}

async function editFromFour(name: string, each: number): Promise<{ done: number[]; refused: string[] }> {
  const runs = await Promise.all(
    [0, 1, 2, 3].map((part) => promisify(execFile)(process.execPath, [CHILD, root, name, `${part * each}`, `${each}`])),
  );
  const results = runs.map(({ stdout }) => JSON.parse(stdout) as { done: number[]; refused: string[] });
  return { done: results.flatMap((result) => result.done), refused: results.flatMap((result) => result.refused) };
}

test("50 edits of different lines at once: none lost, none refused", async () => {
  writeFileSync(join(root, "a.ts"), lines(50));
  const { done, refused } = await editFromHere("a.ts", 50);
  expect(refused.filter((code) => code !== "resource_busy")).toEqual([]);
  await expectExactly("a.ts", 50, done);
});

test("500 edits at once: none lost, every refusal a clean one", async () => {
  writeFileSync(join(root, "a.ts"), lines(500));
  const { done, refused } = await editFromHere("a.ts", 500);
  expect(done.length + refused.length).toBe(500);
  expect(refused.filter((code) => code !== "resource_busy")).toEqual([]);
  await expectExactly("a.ts", 500, done);
});

test("50 and 500 edits from four processes: none lost, every refusal a clean one", async () => {
  for (const count of [52, 500]) {
    writeFileSync(join(root, "a.ts"), lines(count));
    const { done, refused } = await editFromFour("a.ts", count / 4);
    expect(done.length + refused.length).toBe(count);
    expect(done.length).toBeGreaterThan(0);
    expect(refused.filter((code) => code !== "resource_busy")).toEqual([]);
    await expectExactly("a.ts", count, done);
  }
});

test("50 writes of one file at once with readers beside: whole at every moment", async () => {
  const version = (number: number) => `${number}\n`.repeat(20_000);
  writeFileSync(join(root, "a.ts"), version(0));
  let isWriting = true;
  let reads = 0;
  const reading = (async () => {
    while (isWriting) {
      const { text } = await fs.readBytes(roots.mint("a.ts", "read"), 0, 1 << 20);
      expect(text).toBe(version(Number(text.slice(0, text.indexOf("\n")))));
      reads++;
      await new Promise((resolve) => setImmediate(resolve));
    }
  })();
  const results = await Promise.allSettled(
    Array.from({ length: 50 }, (_, number) =>
      fs.write(roots.mint("a.ts", "write"), version(number + 1), { mode: "rewrite" }, call),
    ),
  );
  isWriting = false;
  await reading;
  for (const result of results)
    if (result.status === "rejected") expect(result.reason).toMatchObject({ code: "resource_busy" });
  expect(results.some((result) => result.status === "fulfilled")).toBe(true);
  expect(reads).toBeGreaterThan(0);
});

test("patches over the same files in opposite order wait for each other and are each whole", async () => {
  writeFileSync(join(root, "a.ts"), "0\n");
  writeFileSync(join(root, "b.ts"), "0\n");
  const patch = (names: string[], from: string, to: string) =>
    names.map((name) => `--- a/${name}\n+++ b/${name}\n@@ -1 +1 @@\n-${from}\n+${to}\n`).join("");
  const mint = (name: string) => roots.mint(name, "write");
  for (let round = 0; round < 20; round++) {
    const both = await Promise.all([
      fs.patch(patch(["a.ts", "b.ts"], `${round}`, `${round + 1}`), { mint, dry_run: false }, call),
      fs.patch(patch(["b.ts", "a.ts"], `${round}`, `${round + 1}`), { mint, dry_run: false }, call),
    ]);
    expect(both.filter((result) => result.applied)).toHaveLength(1);
    expect(readFileSync(join(root, "a.ts"), "utf8")).toBe(readFileSync(join(root, "b.ts"), "utf8"));
  }
});
