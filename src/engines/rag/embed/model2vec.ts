import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { Fault } from "../../../base/fault.ts";

const tokenizer = z.object({
  model: z.object({
    type: z.string(),
    vocab: z.record(z.string(), z.int()),
    unk_token: z.string().default("[UNK]"),
    continuing_subword_prefix: z.string().default("##"),
  }),
  normalizer: z.object({ lowercase: z.boolean().optional() }).nullish(),
});
const header = z.record(
  z.string(),
  z.object({ dtype: z.string(), shape: z.array(z.int()), data_offsets: z.tuple([z.int(), z.int()]) }),
);
const MAX_PIECES = 512;
const MAX_WORD = 100;

interface Model {
  readonly vocab: ReadonlyMap<string, number>;
  readonly lowercase: boolean;
  readonly glue: string;
  readonly unknown: number | undefined;
  readonly width: number;
  row(piece: number): Float32Array;
}

/** A folder with static vectors for pieces of words: a text is the mean of its pieces. No model runs. */
export function createModel2Vec(folder: string) {
  let loaded: Model | undefined;
  return async (texts: readonly string[]): Promise<Float32Array[]> => {
    loaded ??= load(folder);
    const model = loaded;
    return texts.map((text) => mean(pieces(text, model), model));
  };
}

function mean(ids: readonly number[], model: Model): Float32Array {
  const sum = new Float32Array(model.width);
  for (const id of ids) {
    const row = model.row(id);
    for (let index = 0; index < sum.length; index++) sum[index]! += row[index]! / ids.length;
  }
  return sum;
}

function load(folder: string): Model {
  try {
    const { model, normalizer } = tokenizer.parse(JSON.parse(readFileSync(join(folder, "tokenizer.json"), "utf8")));
    if (model.type !== "WordPiece") throw new Error(`its tokenizer is ${model.type}, and only WordPiece is known`);
    const vocab = new Map(Object.entries(model.vocab));
    return {
      vocab,
      lowercase: normalizer?.lowercase !== false,
      glue: model.continuing_subword_prefix,
      unknown: vocab.get(model.unk_token),
      ...matrix(readFileSync(join(folder, "model.safetensors"))),
    };
  } catch (error) {
    const why = error instanceof Error ? error.message.slice(0, 200) : "unknown";
    throw new Fault("provider_error", `The model2vec folder cannot be used: ${why}.`, { cause: error });
  }
}

function matrix(bytes: Buffer): Pick<Model, "width" | "row"> {
  const size = Number(bytes.readBigUInt64LE(0));
  const { __metadata__: _, ...tensors } = JSON.parse(bytes.toString("utf8", 8, 8 + size)) as Record<string, unknown>;
  const found = header.parse(tensors)["embeddings"];
  if (!found || !["F32", "F16"].includes(found.dtype) || found.shape.length !== 2)
    throw new Error("it holds no table of embeddings in F32 or F16");
  const [rows, width] = found.shape as [number, number];
  const from = 8 + size + found.data_offsets[0];
  const each = found.dtype === "F32" ? 4 : 2;
  if (from + rows * width * each > bytes.length) throw new Error("its table is cut short");
  return {
    width,
    row(piece) {
      const at = from + Math.min(piece, rows - 1) * width * each;
      return Float32Array.from({ length: width }, (_, index) =>
        each === 4 ? bytes.readFloatLE(at + index * 4) : half(bytes.readUInt16LE(at + index * 2)),
      );
    },
  };
}

function half(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  return exponent === 31 ? 0 : sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

/** The longest known piece first, word by word. */
function pieces(text: string, model: Model): number[] {
  const ids: number[] = [];
  const plain = model.lowercase
    ? text
        .toLowerCase()
        .normalize("NFD")
        .replace(/\p{Mn}/gu, "")
    : text;
  for (const [word] of plain.matchAll(/[\p{L}\p{N}]+|[^\s\p{L}\p{N}]/gu)) {
    if (ids.length >= MAX_PIECES) break;
    ids.push(...(word.length > MAX_WORD ? [] : pieceWord(word, model)));
  }
  return ids;
}

function pieceWord(word: string, { vocab, glue, unknown }: Model): number[] {
  const ids: number[] = [];
  for (let start = 0; start < word.length; ) {
    let end = word.length;
    let id: number | undefined;
    for (; end > start && id === undefined; end--) id = vocab.get((start > 0 ? glue : "") + word.slice(start, end));
    // Unknown pieces say nothing about a text; the library that makes such folders leaves them out too.
    if (id === undefined) return [];
    if (id !== unknown) ids.push(id);
    start = end + 1;
  }
  return ids;
}
