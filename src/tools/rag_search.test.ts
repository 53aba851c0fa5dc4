import { countTokens as o200k } from "gpt-tokenizer/encoding/o200k_base";
import { describe, expect, it } from "vitest";
import { createBed } from "../../tests/harness/bed.ts";

const files = {
  "AGENTS.md": "# Rules\n\nTests are sentences.\n",
  "README.md": "# Pears\n\nA shop.\n",
  "src/basket.ts": "/** Adds a pear. */\nexport function addToBasket(pear: string) {\n  return pear;\n}\n",
};

describe("rag_search", () => {
  it("answers the contract's payload, also by its other names", async () => {
    await using bed = createBed({ files });
    const answer = await bed.payload("rag_search", { q: "add to basket", scope: "repo", k: 1, budget_tokens: 600 });
    expect(answer).toEqual({
      snippets: [
        {
          text: files["src/basket.ts"].trimEnd(),
          src: "src/basket.ts#L1-L4",
          score: expect.any(Number),
          symbol: "addToBasket",
        },
      ],
      provenance: true,
      stale: false,
      coverage: 1,
    });
    for (const [name, args] of [
      ["rag_query", { query: "add to basket", k: 1 }],
      ["rag.search", { q: "add to basket", k: 1 }],
    ] as const)
      expect(await bed.payload(name, args)).toMatchObject({ snippets: [{ src: "src/basket.ts#L1-L4" }] });
  });

  it("gives a model the code as it is, with its place above", async () => {
    await using bed = createBed({ files });
    const text = await bed.text("rag_search", { q: "addToBasket", k: 1 });
    expect(text).toBe(`{"snippets":1}\n\n== src/basket.ts#L1-L4 addToBasket\n${files["src/basket.ts"].trimEnd()}`);
  });

  it("says that nothing was found without calling it a fault", async () => {
    await using bed = createBed({ files });
    expect(await bed.payload("rag_search", { q: "zebra" })).toMatchObject({ snippets: [], coverage: 1 });
  });
});

describe("rag_bootload", () => {
  it("tells the rules, where the task points at, and what is missing", async () => {
    await using bed = createBed({ files });
    const { plan, scope, notes } = await bed.payload<Record<string, string>>("rag_bootload", {
      session_id: "s",
      task_id: "fix-basket-total",
    });
    expect(scope).toBe("repo");
    expect(plan).toContain("AGENTS.md, README.md");
    expect(plan).toContain("src/basket.ts#L1-L4");
    expect(notes).toContain("Tests are sentences.");
    expect(notes).toContain("Missing: CONTRACTS.md, CLAUDE.md.");
  });

  it("stays within its budget", async () => {
    const long = "A rule that must be kept, whatever happens.\n".repeat(2000);
    await using bed = createBed({ files: { ...files, "AGENTS.md": long, "CONTRACTS.md": long, "README.md": long } });
    const { plan, notes } = await bed.payload<Record<string, string>>("rag_bootload", {
      session_id: "s",
      task_id: "T1",
    });
    expect(o200k(`${plan}${notes}`)).toBeLessThanOrEqual(600);
    expect(notes).toContain("CONTRACTS.md:");
  });

  it("works in an empty repository", async () => {
    await using bed = createBed();
    const { notes } = await bed.payload<Record<string, string>>("rag_bootload", { session_id: "s", task_id: "T1" });
    expect(notes).toContain("Missing: AGENTS.md, CONTRACTS.md, CLAUDE.md, README.md. Index: 0 files");
  });
});
