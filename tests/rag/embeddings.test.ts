import { describe, expect, it } from "vitest";
import { type Bed, createBed } from "../harness/bed.ts";
import { startEmbeddings, writeModel2Vec } from "../harness/embeddings.ts";
import { temp } from "../harness/temp.ts";

interface Answer {
  readonly snippets: readonly { readonly src: string }[];
  readonly note?: string;
}

const files = {
  "garage.ts": "export function park() {\n  return 'automobile';\n}\n",
  "kennel.ts": "export function feed() {\n  return 'hound';\n}\n",
  "sky.ts": "export function wet() {\n  return 'drizzle';\n}\n",
};

const config = (lines: string) => `[rag.embeddings]\n${lines}\n[mcp.rag]\ntop_k = 10\n`;
const signal = new AbortController().signal;

/** With all vectors made. */
async function filled(bed: Bed): Promise<Bed> {
  await (await bed.app.engines.rag()).build({}, signal);
  return bed;
}

describe("embeddings", () => {
  it.each(["ollama", "openai"])("of %s find what words do not", async (provider) => {
    await using server = await startEmbeddings();
    await using bed = createBed({
      config: config(`provider = '${provider}'\nmodel = 'm'\nbase_url = '${server.url}'`),
      files,
    });
    await filled(bed);
    const answer = await bed.payload<Answer>("rag_search", { q: "car" });
    expect(answer.snippets[0]?.src).toBe("garage.ts#L1-L3");
    expect(answer.note).toBeUndefined();
    expect(await bed.payload("rag_stats")).toMatchObject({ vectors: 4 });
    expect(server.asked[0]).toMatchObject({ path: provider === "ollama" ? "/api/embed" : "/embeddings", model: "m" });
  });

  it.each(["F32", "F16"] as const)("of a model2vec folder (%s) need no server", async (dtype) => {
    using folder = temp();
    writeModel2Vec(folder.path, dtype);
    await using bed = createBed({ config: config(`provider = 'model2vec'\nmodel = '${folder.path}'`), files });
    await filled(bed);
    expect((await bed.payload<Answer>("rag_search", { q: "puppy" })).snippets[0]?.src).toBe("kennel.ts#L1-L3");
    expect((await bed.payload<Answer>("rag_search", { q: "showers" })).snippets[0]?.src).toBe("sky.ts#L1-L3");
  });

  it("do not outweigh words that stand in a file", async () => {
    await using server = await startEmbeddings();
    const more = { ...files, "car.ts": "export function car() {\n  return 1;\n}\n" };
    await using bed = createBed({
      config: config(`provider = 'ollama'\nmodel = 'm'\nbase_url = '${server.url}'`),
      files: more,
    });
    await filled(bed);
    expect((await bed.payload<Answer>("rag_search", { q: "car" })).snippets[0]?.src).toBe("car.ts#L1-L3");
  });

  it("of a provider that fails are a note, and the words answer", async () => {
    await using server = await startEmbeddings();
    server.status = 500;
    await using bed = createBed({
      config: config(`provider = 'ollama'\nmodel = 'm'\nbase_url = '${server.url}'`),
      files,
    });
    await filled(bed);
    const answer = await bed.payload<Answer>("rag_search", { q: "hound" });
    expect(answer.snippets[0]?.src).toBe("kennel.ts#L1-L3");
    expect(answer.note).toMatch(/words alone.*500/);
    expect(await bed.text("rag_search", { q: "hound" })).toContain("words alone");
  });

  it("are not sent to another machine", async () => {
    await using bed = createBed({
      config: config("provider = 'openai'\nmodel = 'm'\nbase_url = 'http://192.0.2.1/v1'"),
      files,
    });
    const answer = await bed.payload<Answer>("rag_search", { q: "hound" });
    expect(answer.snippets[0]?.src).toBe("kennel.ts#L1-L3");
    expect(answer.note).toMatch(/Nothing is sent to 192\.0\.2\.1/);
  });

  it("are made once for a chunk, also when its file is saved again", async () => {
    await using server = await startEmbeddings();
    await using bed = createBed({
      config: config(`provider = 'ollama'\nmodel = 'm'\nbase_url = '${server.url}'`),
      files,
    });
    await filled(bed);
    const before = server.asked.flatMap(({ input }) => input).length;
    bed.write("sky.ts", `${files["sky.ts"]}`);
    bed.write("kennel.ts", files["kennel.ts"].replace("hound", "puppy"));
    await filled(bed);
    expect(server.asked.flatMap(({ input }) => input).length).toBe(before + 1);
  });

  it("of a folder that is none are a note", async () => {
    using folder = temp();
    await using bed = createBed({ config: config(`provider = 'model2vec'\nmodel = '${folder.path}'`), files });
    expect((await bed.payload<Answer>("rag_search", { q: "hound" })).note).toMatch(/model2vec folder cannot be used/);
  });
});
