import { describe, expect, it } from "vitest";
import { createBed } from "../harness/bed.ts";
import { rlmConfig } from "./bed.ts";
import { startModelServer } from "./model-server.ts";

interface Enriched {
  readonly snippets: readonly { readonly summary: string }[];
}

const FILES = {
  "src/clamp.ts":
    "/** Keeps a value within bounds. */\nexport function clamp(value: number): number {\n  return value;\n}\n",
};
const ASKED = { q: "keep a value within bounds" };

describe("summaries that a model writes", () => {
  it("are asked for under the rules of rlm_query, once for the same code, and not for callers over HTTP", async () => {
    await using model = await startModelServer({ model: () => "It keeps a value in place." });
    await using bed = createBed({ files: FILES, config: rlmConfig(model.url) });
    const first = async (via: "stdio" | "http") =>
      (await bed.payload<Enriched>("rag_search_enriched", ASKED, { via })).snippets[0]!.summary;
    expect(await first("http")).toContain("export function clamp");
    expect(model.seen).toHaveLength(0);
    expect(await first("stdio")).toBe("It keeps a value in place.");
    expect(await first("stdio")).toBe("It keeps a value in place.");
    expect(model.seen).toHaveLength(1);
    expect(model.seen[0]!.chat.prompt).toContain("export function clamp");
  });

  it("go to callers over HTTP when the operator lets rlm_query do so", async () => {
    await using model = await startModelServer({ model: () => "Written." });
    await using bed = createBed({ files: FILES, config: rlmConfig(model.url, { policy: "allow_http = true" }) });
    expect((await bed.payload<Enriched>("rag_search_enriched", ASKED, { via: "rest" })).snippets[0]!.summary).toBe(
      "Written.",
    );
  });

  it("are those of the graph when the model is refused or away", async () => {
    await using bed = createBed({ files: FILES, config: rlmConfig("http://192.0.2.1:1") });
    expect((await bed.payload<Enriched>("rag_search_enriched", ASKED)).snippets[0]!.summary).toContain(
      "Keeps a value within bounds",
    );
  });
});
