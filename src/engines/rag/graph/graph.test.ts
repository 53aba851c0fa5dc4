import { renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openIndexedRag, SIGNAL, type TestRag } from "../test-rag.ts";

const FILES = {
  "src/math.ts":
    "/** Keeps a number between two others. */\nexport function clamp(value: number, low: number): number {\n  return Math.max(value, low);\n}\n",
  "src/index.ts": 'export { clamp as limit } from "./math.ts";\n',
  "src/slider.ts":
    'import { limit } from "./index.ts";\n\nexport class Slider {\n  move(by: number) {\n    return limit(by, 0);\n  }\n}\n',
  "src/panel.ts":
    'import { Slider } from "./slider.ts";\n\nexport function panel(slider: Slider) {\n  return slider.move(1);\n}\n',
  "src/slider.test.ts": 'import { Slider } from "./slider.ts";\n\nit("moves", () => {\n  new Slider().move(2);\n});\n',
  "docs/math.md": "# Math\n\nThe function `clamp` keeps numbers.\n",
};

const places = (items: readonly { path: string; line: number; kind: string }[]) =>
  items.map(({ path, line, kind }) => `${path}:${line} ${kind}`);
const uses = (bed: TestRag, symbol: string, more: Record<string, unknown> = {}) =>
  bed.rag.whereUsed({ symbol, limit: 50, ...more }, SIGNAL);
const lineage = (
  bed: TestRag,
  symbol: string,
  direction: "upstream" | "downstream" | "callers" | "callees",
  depth = 1,
) => bed.rag.lineage({ symbol, direction, depth, limit: 50 }, SIGNAL);

describe("where used", () => {
  it("follows a symbol through an alias that another file gives it", async () => {
    await using bed = await openIndexedRag({ files: FILES });
    const { items, total } = await uses(bed, "clamp");
    expect(places(items)).toEqual(["src/index.ts:1 import", "src/slider.ts:1 import", "src/slider.ts:5 call"]);
    expect(items[2]).toMatchObject({ symbol: "Slider.move", hop: 1 });
    expect(total).toBe(3);
  });

  it("takes a symbol with its class, its file, or its line", async () => {
    await using bed = await openIndexedRag({ files: FILES });
    const expected = ["src/panel.ts:4 call", "src/slider.test.ts:4 call"];
    for (const symbol of [
      "Slider.move",
      "Slider::move",
      "src/slider.ts:move",
      "src/slider.ts#Slider.move",
      "src/slider.ts:5",
    ])
      expect(places((await uses(bed, symbol)).items), symbol).toEqual(expected);
  });

  it("tells what is sure before what only may be meant, and says how sure", async () => {
    await using bed = await openIndexedRag({
      files: {
        "a.ts": "export class A {\n  render() {}\n}\nnew A().render();\n",
        "b.ts": "export class B {\n  render() {}\n}\n",
        "c.ts": "export const draw = (thing: any) => thing.render();\n",
      },
    });
    const { items } = await uses(bed, "A.render");
    expect(places(items)).toEqual(["a.ts:4 call", "c.ts:1 call"]);
    expect(items[0]!.confidence).toBeGreaterThanOrEqual(0.5);
    expect(items[1]!.confidence).toBeLessThan(0.5);
  });

  it("gives words, labelled as such, when there is no use", async () => {
    await using bed = await openIndexedRag({
      files: { "a.py": "# teleport is planned\nx = 1\n", "b.md": "About teleport.\n" },
    });
    const answer = await uses(bed, "teleport");
    expect(places(answer.items)).toEqual(["a.py:1 word", "b.md:1 word"]);
    expect(answer.note).toMatch(/No definition of teleport is indexed; these are places where the word stands/);
  });

  it("is never silently empty", async () => {
    await using bed = await openIndexedRag({ files: FILES });
    const nothing = await uses(bed, "clam");
    expect(nothing).toMatchObject({ total: 0, items: [] });
    expect(nothing.note).toMatch(/the word stands nowhere. Did you mean clamp\?/);
    expect((await uses(bed, "panel")).note).toMatch(/No use of it is known/);
  });

  it("pages without losing or doubling anything", async () => {
    const calls = Array.from({ length: 7 }, (_, n) => `export const f${n} = () => one();\n`).join("");
    await using bed = await openIndexedRag({ files: { "a.ts": `export function one() {}\n${calls}` } });
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await uses(bed, "one", { limit: 3, cursor });
      expect(page.total).toBe(7);
      seen.push(...places(page.items));
      cursor = page.cursor;
    } while (cursor !== undefined);
    expect(seen).toEqual(Array.from({ length: 7 }, (_, n) => `a.ts:${n + 2} call`));
    await expect(uses(bed, "one", { cursor: "x" })).rejects.toMatchObject({ code: "invalid_args" });
  });

  it("names the definitions when there are several", async () => {
    await using bed = await openIndexedRag({
      files: { "a.ts": "export const go = 1;\n", "b.ts": "export const go = 2;\n" },
    });
    expect((await uses(bed, "go")).note).toMatch(/2 definitions: go a.ts:1, go b.ts:1. Name one as path:symbol/);
  });

  it("sees a file as it is now, and none that is gone", async () => {
    await using bed = await openIndexedRag({ files: FILES });
    await uses(bed, "clamp");
    bed.write("src/slider.ts", 'import { limit } from "./index.ts";\n\n\n\n\nlimit(1, 2);\n');
    expect(places((await uses(bed, "clamp")).items)).toContain("src/slider.ts:6 call");
    rmSync(join(bed.root, "src/slider.ts"));
    expect(places((await uses(bed, "clamp")).items)).toEqual(["src/index.ts:1 import"]);
  });

  it("forgets a module that moved, and finds it where it went when its importers follow", async () => {
    await using bed = await openIndexedRag({ files: FILES });
    await uses(bed, "clamp");
    renameSync(join(bed.root, "src/math.ts"), join(bed.root, "src/numbers.ts"));
    await bed.rag.build({}, SIGNAL);
    expect((await uses(bed, "clamp")).items.every((item) => item.confidence < 0.5)).toBe(true);
    bed.write("src/index.ts", 'export { clamp as limit } from "./numbers.ts";\n');
    await bed.rag.build({}, SIGNAL);
    expect(places((await uses(bed, "clamp")).items)).toContain("src/slider.ts:5 call");
  });
});

describe("lineage", () => {
  it("goes up and down, hop by hop", async () => {
    await using bed = await openIndexedRag({ files: FILES });
    const up = await lineage(bed, "clamp", "callers", 3);
    expect(up.items.map(({ symbol, hop }) => `${hop} ${symbol}`)).toEqual([
      "1 Slider.move",
      "2 panel",
      "2 (top level)",
    ]);
    const down = await lineage(bed, "panel", "downstream", 5);
    expect(down.items.map(({ symbol, hop }) => `${hop} ${symbol}`).sort()).toEqual([
      "1 Slider",
      "1 Slider.move",
      "2 clamp",
    ]);
  });

  it("ends in a circle", async () => {
    await using bed = await openIndexedRag({
      files: { "a.ts": "export function a() { b(); }\nexport function b() { c(); }\nexport function c() { a(); }\n" },
    });
    const names = async (direction: "callers" | "callees") =>
      (await lineage(bed, "a", direction, 5)).items.map(({ symbol, hop }) => `${hop} ${symbol}`);
    expect(await names("callees")).toEqual(["1 b", "2 c"]);
    expect(await names("callers")).toEqual(["1 c", "2 b", "3 a"]);
  });

  it("tells only calls for callers and callees, and everything for upstream and downstream", async () => {
    await using bed = await openIndexedRag({ files: FILES });
    expect((await lineage(bed, "Slider", "callers")).items.map(({ kind }) => kind)).toEqual(["call"]);
    expect(new Set((await lineage(bed, "Slider", "upstream")).items.map(({ kind }) => kind))).toEqual(
      new Set(["call", "import", "type"]),
    );
  });

  it("says that nothing is known instead of giving an empty list alone", async () => {
    await using bed = await openIndexedRag({ files: FILES });
    expect((await lineage(bed, "clamp", "callees")).note).toMatch(/Nothing is known that it uses by a call/);
  });

  it("is bounded where everything calls everything", async () => {
    const all = Array.from({ length: 60 }, (_, n) => n);
    const text = all.map((n) => `export function f${n}() { ${all.map((m) => `f${m}();`).join(" ")} }\n`).join("");
    await using bed = await openIndexedRag({ files: { "mesh.ts": text } });
    const { total } = await lineage(bed, "f0", "callers", 5);
    expect(total).toBeLessThanOrEqual(2000);
  });
});
