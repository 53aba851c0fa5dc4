import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { encode } from "gpt-tokenizer/encoding/o200k_base";
import { describe, expect, it } from "vitest";
import { openIndexedRag, SIGNAL } from "../test-rag.ts";

const FILES = {
  "src/math.ts":
    "/** Keeps a number between two others. Used by sliders. */\nexport function clamp(\n  value: number,\n  low: number,\n): number {\n  return Math.max(value, low);\n}\n",
  "src/slider.ts":
    'import { clamp } from "./math.ts";\n\nexport class Slider {\n  move(by: number) {\n    return clamp(by, 0);\n  }\n  stop() {}\n}\n',
  "src/panel.ts":
    'import { Slider } from "./slider.ts";\n\nexport function panel(slider: Slider) {\n  return slider.move(1);\n}\n',
  "src/math.test.ts": 'import { clamp } from "./math.ts";\n\nit("keeps numbers", () => {\n  clamp(1, 2);\n});\n',
  "docs/math.md": "# Math\n\nThe function `clamp` keeps numbers.\n",
};
const inspected = { include_full_source: false, max_neighbors: 3 };

describe("inspect", () => {
  it("tells what a symbol is, who needs it, what watches it and where it is described", async () => {
    await using bed = await openIndexedRag({ files: FILES });
    const found = await bed.rag.inspect({ symbol: "clamp", ...inspected }, SIGNAL);
    expect(found).toMatchObject({
      path: "src/math.ts",
      definition: {
        symbol: "clamp",
        kind: "function",
        line: 2,
        last: 7,
        signature: "export function clamp( value: number, low: number, ): number",
        doc: "Keeps a number between two others. Used by sliders.",
      },
      callers: [{ symbol: "Slider.move", path: "src/slider.ts", line: 5, kind: "call" }],
      callees: [],
      tests: ["src/math.test.ts:4"],
      docs: ["docs/math.md#L1-L3"],
      last_commit: null,
    });
    expect(found.definition).not.toHaveProperty("source");
  });

  it("outlines a file, with who outside needs it", async () => {
    await using bed = await openIndexedRag({ files: FILES });
    const found = await bed.rag.inspect({ path: "src/slider.ts", ...inspected }, SIGNAL);
    expect(found.outline).toEqual(["class Slider L3-L8", "method Slider.move L4-L6", "method Slider.stop L7-L7"]);
    expect(found.definition).toBeNull();
    expect(found.callers.map(({ path }) => path)).toEqual(["src/panel.ts"]);
    expect(found.callees.map(({ symbol }) => symbol)).toEqual(["clamp"]);
    expect(found.tests).toEqual([]);
  });

  it("outlines a class by its members, and gives the source when asked", async () => {
    await using bed = await openIndexedRag({ files: FILES });
    const found = await bed.rag.inspect({ symbol: "Slider", ...inspected, include_full_source: true }, SIGNAL);
    expect(found.outline).toEqual(["method Slider.move L4-L6", "method Slider.stop L7-L7"]);
    expect(found.definition!.source).toMatch(/^export class Slider \{[\s\S]*stop\(\) \{\}\n\}$/);
  });

  it("says what is not there", async () => {
    await using bed = await openIndexedRag({ files: FILES });
    await expect(bed.rag.inspect({ symbol: "nobody", ...inspected }, SIGNAL)).rejects.toMatchObject({
      code: "file_not_found",
    });
    await expect(bed.rag.inspect({ path: "no/where.ts", ...inspected }, SIGNAL)).rejects.toMatchObject({
      code: "file_not_found",
    });
  });

  it("gives as many neighbours as asked for", async () => {
    const users = Object.fromEntries(
      Array.from({ length: 9 }, (_, n) => [
        `src/u${n}.ts`,
        `import { clamp } from "./math.ts";\nexport function user${n}() {\n  clamp(1, 2);\n}\n`,
      ]),
    );
    await using bed = await openIndexedRag({ files: { ...FILES, ...users } });
    const callers = async (max_neighbors: number) =>
      (await bed.rag.inspect({ symbol: "clamp", ...inspected, max_neighbors }, SIGNAL)).callers.length;
    expect([await callers(1), await callers(5)]).toEqual([1, 5]);
  });

  it("costs at most 800 tokens by default, whatever it is about", async () => {
    const members = Array.from(
      { length: 300 },
      (_, n) => `  veryLongNameOfMethod${n}(first: string, second: number) {}\n`,
    );
    const users = Object.fromEntries(
      Array.from({ length: 12 }, (_, n) => [
        `src/a/rather/deep/folder/with/a/long/name/user${n}.test.ts`,
        `import { Huge } from "../../../../../../../huge.ts";\nexport const user${n} = (huge: Huge) => huge.veryLongNameOfMethod${n}("", 1);\n`,
      ]),
    );
    const doc = `/** ${"Says a lot about itself, word after word. ".repeat(60)} */\n`;
    const args = Array.from({ length: 60 }, (_, n) => `argument${n}: Map<string, Array<number>>`).join(", ");
    const files = {
      ...users,
      "src/huge.ts": `${doc}export class Huge {\n${members.join("")}}\n${doc}export function wide(${args}) {}\n`,
    };
    await using bed = await openIndexedRag({ files, search: {} });
    for (const asked of [{ path: "src/huge.ts" }, { symbol: "Huge" }, { symbol: "wide" }]) {
      const found = await bed.rag.inspect({ ...asked, ...inspected }, SIGNAL);
      expect(encode(JSON.stringify(found)).length, JSON.stringify(asked)).toBeLessThanOrEqual(800);
    }
  });
});

describe("an enriched search", () => {
  const enriched = { k: 1, graph_depth: 1, enrich_mode: "auto", include_features: false, may_leave: true } as const;

  it("adds neighbours and a summary from signature, comment and graph", async () => {
    await using bed = await openIndexedRag({ files: FILES });
    const { snippets } = await bed.rag.searchEnriched({ q: "clamp number between", ...enriched }, SIGNAL);
    expect(snippets[0]!.neighbors).toEqual(["caller Slider.move src/slider.ts:5"]);
    expect(snippets[0]!.summary).toBe(
      "export function clamp( value: number, low: number, ): number. Keeps a number between two others. Used by Slider.move. Tested in src/math.test.ts.",
    );
    expect(snippets[0]).not.toHaveProperty("features");
  });

  it("looks as far as graph_depth says", async () => {
    await using bed = await openIndexedRag({ files: FILES });
    const near = async (graph_depth: number) =>
      (await bed.rag.searchEnriched({ q: "clamp number between", ...enriched, graph_depth }, SIGNAL)).snippets[0]!
        .neighbors;
    expect(await near(2)).toEqual(["caller Slider.move src/slider.ts:5", "caller panel src/panel.ts:4 (2 away)"]);
    expect(await near(1)).toHaveLength(1);
  });

  it("does by enrich_mode what it says: no graph with vector, and a note when there are no vectors", async () => {
    await using bed = await openIndexedRag({ files: FILES });
    const ask = (enrich_mode: "vector" | "graph" | "hybrid") =>
      bed.rag.searchEnriched({ q: "clamp number between", ...enriched, enrich_mode }, SIGNAL);
    const [vector, graph, hybrid] = [await ask("vector"), await ask("graph"), await ask("hybrid")];
    expect(vector.snippets[0]!.neighbors).toEqual([]);
    expect(vector.snippets[0]!.summary).not.toMatch(/Used by/);
    expect(vector.note).toMatch(/No vectors are configured/);
    expect(graph.snippets[0]!.neighbors).toHaveLength(1);
    expect(graph).not.toHaveProperty("note");
    expect(hybrid.snippets[0]!.neighbors).toHaveLength(1);
    expect(hybrid.note).toMatch(/No vectors are configured/);
  });

  it("tells features when asked", async () => {
    await using bed = await openIndexedRag({ files: FILES });
    const request = { q: "clamp number between", ...enriched, include_features: true };
    expect((await bed.rag.searchEnriched(request, SIGNAL)).snippets[0]!.features).toEqual({
      ...{ kind: "source", language: "typescript", lines: 7, callers: 1, callees: 0, tests: 1 },
    });
  });

  it("stays within its budget, summaries and neighbours included", async () => {
    await using bed = await openIndexedRag({ files: FILES });
    const { snippets } = await bed.rag.searchEnriched(
      { q: "slider clamp panel number", ...enriched, k: 5, budget_tokens: 300 },
      SIGNAL,
    );
    const text = snippets
      .map((one) => [one.src, one.text, one.summary, ...(one.neighbors ?? [])].join("\n"))
      .join("\n");
    expect(encode(text).length).toBeLessThanOrEqual(300);
  });

  it("takes a written summary from a model, once for the same code", async () => {
    const asked: string[] = [];
    const server = createServer((request, response) => {
      let body = "";
      request.on("data", (chunk: Buffer) => {
        body += chunk.toString("utf8");
      });
      request.on("end", () => {
        asked.push(body);
        response.end(JSON.stringify({ text: `Written summary ${asked.length}.` }));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const summarize = async (text: string, signal: AbortSignal) => {
      const response = await fetch(url, { method: "POST", body: text, signal });
      return (await response.json()) as { text: string };
    };
    try {
      await using bed = await openIndexedRag({ files: FILES, summarize });
      const ask = async () =>
        (await bed.rag.searchEnriched({ q: "clamp number between", ...enriched }, SIGNAL)).snippets[0]!.summary;
      expect(await ask()).toBe("Written summary 1.");
      expect(await ask()).toBe("Written summary 1.");
      expect(asked).toHaveLength(1);
      expect(asked[0]).toContain("export function clamp");
      bed.write("src/math.ts", FILES["src/math.ts"].replace("Math.max", "Math.min"));
      expect(await ask()).toBe("Written summary 2.");
    } finally {
      await new Promise((resolve) => server.close(resolve));
    }
  });

  it("keeps its own summary when the model fails", async () => {
    await using bed = await openIndexedRag({ files: FILES, summarize: () => Promise.reject(new Error("down")) });
    const { snippets } = await bed.rag.searchEnriched({ q: "clamp number between", ...enriched }, SIGNAL);
    expect(snippets[0]!.summary).toMatch(/Keeps a number/);
  });
});

describe("a plan", () => {
  it("names what to read first, why, and how sure, and what it asked", async () => {
    await using bed = await openIndexedRag({ files: FILES });
    const plan = await bed.rag.plan(
      { query: "`Slider` moves too far: see docs/math.md, the number is not clamped", detail: "summary" },
      SIGNAL,
    );
    expect(plan.steps[0]).toMatchObject({ read: "docs/math.md#L1-L3" });
    expect(plan.steps[0]!.why).toMatch(/the task names docs\/math.md/);
    const slider = plan.steps.find(({ read }) => read.startsWith("src/slider.ts"))!;
    expect(slider.why).toMatch(/defines Slider/);
    for (const { confidence } of plan.steps) expect(confidence > 0 && confidence < 1).toBe(true);
    expect(plan.queries).toEqual([
      expect.stringMatching(/^`Slider` moves/),
      "definition of Slider",
      "file docs/math.md",
    ]);
  });

  it("gives as reason only words that stand in the file", async () => {
    const files = {
      "src/whale.ts": "export const whale = 'sings';\n",
      "src/heron.ts": "export const heron = 'stands';\n",
      "src/both.ts": "// heron and whale\nexport const pair = 2;\n",
    };
    await using bed = await openIndexedRag({ files });
    const { steps } = await bed.rag.plan({ query: "teach the heron what the whale does", detail: "full" }, SIGNAL);
    const said = Object.fromEntries(steps.map(({ read, why }) => [read.split("#")[0]!, why]));
    expect(Object.keys(said)).toHaveLength(3);
    expect(said["src/whale.ts"]).toMatch(/whale/);
    expect(said["src/whale.ts"]).not.toMatch(/heron/);
    expect(said["src/heron.ts"]).not.toMatch(/whale/);
    expect(said["src/both.ts"]).toMatch(/heron.*whale|whale.*heron/);
  });

  it("has more steps in full", async () => {
    const files = Object.fromEntries(
      Array.from({ length: 20 }, (_, n) => [`f${n}.ts`, `export const needle${n} = "needle";\n`]),
    );
    await using bed = await openIndexedRag({ files });
    const steps = async (detail: "summary" | "full") =>
      (await bed.rag.plan({ query: "needle", detail }, SIGNAL)).steps.length;
    expect([await steps("summary"), await steps("full")]).toEqual([5, 12]);
  });
});
