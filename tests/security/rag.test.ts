import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { countTokens as o200k } from "gpt-tokenizer/encoding/o200k_base";
import { describe, expect, it } from "vitest";
import { createBed } from "../harness/bed.ts";
import { fc } from "../harness/random.ts";

interface Answer {
  readonly snippets: readonly { text: string; src: string }[];
  readonly stale: boolean;
  readonly coverage: number;
}

const files = {
  "src/parse.ts": "/** Reads a header. */\nexport function parseHeader(line: string) {\n  return line.split(':');\n}\n",
  "src/emoji.ts": "export const party = '🎉 confetti';\nexport const 名前 = '日本語の説明';\n",
};

describe("a query", () => {
  it.each([
    '"parseHeader',
    "parseHeader*",
    "-parseHeader",
    "NEAR(parseHeader, 3)",
    "body:parseHeader",
    "parseHeader AND (",
    "@parseHeader ^",
    "' OR 1=1; DROP TABLE files; -- parseHeader",
    "parseHeader \u0000 \ud800",
    "🎉 parseHeader",
  ])("%j is words and never syntax", async (q) => {
    await using bed = createBed({ files });
    const { snippets } = await bed.payload<Answer>("rag_search", { q });
    expect(snippets[0]?.src).toMatch(/^src\/parse\.ts/);
  });

  it("of another script finds its text", async () => {
    await using bed = createBed({ files });
    expect((await bed.payload<Answer>("rag_search", { q: "日本語" })).snippets[0]?.src).toMatch(/^src\/emoji\.ts/);
  });

  it("of any letters is answered", async () => {
    await using bed = createBed({ files });
    await bed.payload("rag_search", { q: "warm" });
    await fc.assert(
      fc.asyncProperty(fc.string({ minLength: 1, unit: "binary" }), async (q) => {
        const answer = await bed.payload<Answer>("rag_search", { q });
        expect(Array.isArray(answer.snippets)).toBe(true);
      }),
      { numRuns: 150 },
    );
  });

  it("of 100,000 characters is answered from its rarest words", async () => {
    await using bed = createBed({ files });
    const q = `parseHeader ${"noise words again ".repeat(5500)}`.slice(0, 100_000);
    expect((await bed.payload<Answer>("rag_search", { q })).snippets[0]?.src).toMatch(/^src\/parse\.ts/);
  });
});

describe("a budget", () => {
  it("is never exceeded, counted as a model counts, and never leaves nothing", async () => {
    const wide = Array.from(
      { length: 300 },
      (_, n) => `  const value${n} = needle(${n}) ?? "0x${"ab12".repeat(n % 9)}"; // ключ 鍵 🔑\n`,
    );
    await using bed = createBed({
      config: "[mcp.rag]\ntop_k = 8\ntoken_budget = 4000\n",
      files: {
        "a.ts": `export function wide() {\n${wide.join("")}}\n`,
        "b.json": `{"needle": "${"x9Z".repeat(2000)}"}\n`,
        "c.md": `# Needle\n\n${"needle ".repeat(900)}\n`,
      },
    });
    for (const budget_tokens of [50, 80, 150, 400, 1000, 3000]) {
      const { snippets } = await bed.payload<Answer>("rag_search", { q: "needle", k: 8, budget_tokens });
      const spent = snippets.reduce((sum, one) => sum + o200k(one.text), 0);
      expect(spent, `${budget_tokens}`).toBeLessThanOrEqual(budget_tokens);
      expect(snippets.length).toBeGreaterThan(0);
    }
  });
});

describe("a tree", () => {
  it("with a 50 MB line, broken UTF-8, a FIFO and a file of nothing is indexed without them stopping it", async () => {
    await using bed = createBed({
      files: { ...files, "empty.ts": "", "latin.py": Buffer.from("# caf\xe9 needle\nx = 1\n", "latin1") },
    });
    execFileSync("mkfifo", [join(bed.root, "pipe.ts")]);
    writeFileSync(join(bed.root, "bundle.js"), Buffer.alloc(50 * 1024 * 1024, "var a=1;"));
    writeFileSync(join(bed.root, "half.js"), Buffer.alloc(900 * 1024, "var a=1;"));
    writeFileSync(join(bed.root, "deep.ts"), `${"(".repeat(20_000)}needleDeep${")".repeat(20_000)}\n`);
    const { snippets, coverage } = await bed.payload<Answer>("rag_search", { q: "café needle" });
    expect(coverage).toBe(1);
    expect(snippets[0]?.src).toBe("latin.py#L1-L2");
    expect(await bed.payload("rag_stats")).toMatchObject({ skipped: { "too large": 1, minified: 2 } });
  });

  it("of names that lie is shown as they are, on one line", async () => {
    await using bed = createBed({ files: { "a\nb\u202e.ts": "export const needle = 1;\n" } });
    const text = await bed.text("rag_search", { q: "needle" });
    expect(text).toContain("a\\nb\\u202e.ts#L1-L1");
  });

  it("of a home folder is refused until it is told", async () => {
    await using bed = createBed({ files });
    const home = process.env["HOME"];
    process.env["HOME"] = join(bed.root, "src");
    try {
      expect(await bed.call("rag_search", { q: "x" })).toMatchObject({ fault: { code: "invalid_args" } });
      const rag = await bed.app.engines.rag();
      await rag.build({ force: true }, new AbortController().signal);
      expect((await bed.payload<Answer>("rag_search", { q: "parseHeader" })).snippets).not.toEqual([]);
    } finally {
      process.env["HOME"] = home;
    }
  });

  it("may hold what is denied: it is neither indexed nor quoted", async () => {
    await using bed = createBed({
      config: "[mcp.tools]\ndenied_paths = ['rw:private']\n",
      files: { ...files, "private/a.ts": "export const hushHush = 1;\n" },
    });
    expect((await bed.payload<Answer>("rag_search", { q: "hushHush" })).snippets).toEqual([]);
  });

  // RAG_FILES=100000 takes some minutes; the default is what a suite has time for.
  const count = Number(process.env["RAG_FILES"] ?? 3_000);
  it(`of ${count} small files is searchable, and says how much of it is`, {
    timeout: count * 20 + 30_000,
  }, async () => {
    await using bed = createBed({ files });
    const folders = Math.ceil(count / 150);
    for (let folder = 0; folder < folders; folder++) {
      mkdirSync(join(bed.root, `d${folder}`));
      for (let n = 0; n < Math.min(150, count - folder * 150); n++)
        writeFileSync(join(bed.root, `d${folder}/f${n}.ts`), `export const item_${folder}_${n} = ${n};\n`);
    }
    const answer = await bed.payload<Answer>("rag_search", { q: "parseHeader" });
    expect(answer.stale).toBe(answer.coverage < 1);
    await (await bed.app.engines.rag()).build({}, new AbortController().signal);
    expect((await bed.payload<Answer>("rag_search", { q: "item_19_149" })).snippets[0]?.src).toBe("d19/f149.ts#L1-L1");
    expect(await bed.payload("rag_stats")).toMatchObject({ files: count + 2, coverage: 1 });
  });
});
