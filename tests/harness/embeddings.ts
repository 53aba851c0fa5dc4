import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";

export interface EmbeddingServer extends AsyncDisposable {
  readonly url: string;
  /** What was sent, oldest first. */
  readonly asked: {
    readonly path: string;
    readonly key: string | undefined;
    readonly input: readonly string[];
    readonly model: string;
  }[];
  /** What it answers with from now on. */
  status: number;
}

/** Words that mean the same, so that likeness finds what words do not. */
const MEANINGS = [
  ["car", "automobile", "vehicle"],
  ["dog", "hound", "puppy"],
  ["rain", "shower", "drizzle"],
];
const WIDTH = 64;

/** A vector computed from the words: the same meaning, the same direction. */
export function vectorOf(text: string): number[] {
  const vector = new Array<number>(WIDTH).fill(0.001);
  for (const word of text.toLowerCase().match(/[a-z]+/g) ?? []) {
    const meaning = MEANINGS.findIndex((words) => words.includes(word));
    if (meaning >= 0) vector[meaning] = vector[meaning]! + 10;
    else vector[8 + ([...word].reduce((sum, char) => (sum * 31 + char.charCodeAt(0)) % 997, 7) % (WIDTH - 8))]! += 0.2;
  }
  return vector;
}

/** Speaks as Ollama does at /api/embed and as OpenAI does at /embeddings, on loopback. */
export async function startEmbeddings(): Promise<EmbeddingServer> {
  const asked: EmbeddingServer["asked"] = [];
  const state = { status: 200 };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { input, model } = JSON.parse(Buffer.concat(chunks).toString("utf8")) as { input: string[]; model: string };
    const path = request.url ?? "";
    asked.push({ path, key: request.headers.authorization, input, model });
    const vectors = input.map(vectorOf);
    const body = path.endsWith("/api/embed")
      ? { embeddings: vectors }
      : { data: vectors.map((embedding, index) => ({ index, embedding })).reverse() };
    response.writeHead(state.status, { "content-type": "application/json" }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    get status() {
      return state.status;
    },
    set status(value) {
      state.status = value;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A folder as model2vec writes one, for the same meanings. */
export function writeModel2Vec(folder: string, dtype: "F32" | "F16" = "F32"): void {
  mkdirSync(folder, { recursive: true });
  const words = ["[UNK]", ...MEANINGS.flat(), "work", "##s"];
  const rows = words.map((word) =>
    [0, 1, 2, 3].map((at) => (MEANINGS[at]?.includes(word) ? 1 : word === "[UNK]" ? 0 : 0.125)),
  );
  const each = dtype === "F32" ? 4 : 2;
  const data = Buffer.alloc(rows.length * 4 * each);
  for (const [index, value] of rows.flat().entries())
    if (dtype === "F32") data.writeFloatLE(value, index * 4);
    else data.writeUInt16LE(value === 1 ? 0x3c00 : value === 0 ? 0 : 0x3000, index * 2);
  const header = Buffer.from(
    JSON.stringify({ embeddings: { dtype, shape: [rows.length, 4], data_offsets: [0, data.length] } }),
  );
  const size = Buffer.alloc(8);
  size.writeBigUInt64LE(BigInt(header.length));
  writeFileSync(join(folder, "model.safetensors"), Buffer.concat([size, header, data]));
  const vocab = Object.fromEntries(words.map((word, index) => [word, index]));
  writeFileSync(
    join(folder, "tokenizer.json"),
    JSON.stringify({ model: { type: "WordPiece", vocab, unk_token: "[UNK]" }, normalizer: { lowercase: true } }),
  );
}
