import { describe, expect, it } from "vitest";
import { createBed } from "../../tests/harness/bed.ts";

const FILES = {
  "src/math.ts": "export function clamp(value: number) {\n  return value;\n}\n",
  "src/use.ts":
    'import { clamp } from "./math.ts";\n\nexport class Slider {\n  move(by: number) {\n    clamp(by);\n    return clamp(by);\n  }\n}\n',
};

interface Answer {
  readonly items: readonly { readonly symbol: string; readonly hop: number; readonly kind: string }[];
  readonly cursor?: string;
}

describe("the graph's tools", () => {
  it("answer with their defaults: 50 items, one hop, downstream, three neighbours", async () => {
    await using bed = createBed({ files: FILES });
    expect((await bed.payload<Answer>("rag_where_used", { symbol: "clamp" })).items).toHaveLength(3);
    const down = await bed.payload<Answer>("rag_lineage", { symbol: "Slider.move" });
    expect(down.items).toMatchObject([{ symbol: "clamp", hop: 1, kind: "call" }]);
    expect(await bed.payload("inspect", { path: "src/use.ts" })).toMatchObject({
      path: "src/use.ts",
      definition: null,
    });
    expect(await bed.payload("rag_plan", { query: "clamp" })).toHaveProperty("steps");
    expect(await bed.payload("rag_search_enriched", { query: "clamp" })).toHaveProperty("snippets");
  });

  it("read as lines in the lean format, each path told once", async () => {
    await using bed = createBed({ config: "[mcp.output]\nformat = 'lean'\n", files: FILES });
    const text = await bed.text("rag_where_used", { symbol: "clamp" });
    expect(text).toBe(
      '{"total":3}\n\nsrc/use.ts:1 import in (top level) 0.95\n  :5 call in Slider.move 0.95\n  :6 call in Slider.move 0.95',
    );
  });

  it("refuse what is out of bounds, and say what is in", async () => {
    await using bed = createBed({ files: FILES });
    for (const [name, args] of [
      ["rag_where_used", { symbol: "clamp", limit: 0 }],
      ["rag_where_used", { symbol: "" }],
      ["rag_lineage", { symbol: "clamp", depth: 6 }],
      ["rag_lineage", { symbol: "clamp", direction: "sideways" }],
      ["rag_search_enriched", { q: "clamp", graph_depth: 4 }],
      ["rag_search_enriched", { q: "clamp", enrich_mode: "magic" }],
      ["inspect", {}],
      ["rag_plan", { query: "x", detail_level: "all" }],
    ] as const)
      await expect(bed.payload(name, args), `${name} ${JSON.stringify(args)}`).rejects.toMatchObject({
        code: "invalid_args",
      });
  });
});
