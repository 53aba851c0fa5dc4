import type { Db } from "../../../base/db.ts";

/** Vectors by the hash of their chunk: a chunk that moves, or comes back with a branch, keeps its own. */
export interface Vectors {
  /** Chunks most like a vector, best first. */
  nearest(query: Float32Array, count: number): { readonly chunk: number; readonly likeness: number }[];
}

/** Compared exactly, of those whose signs agree most. */
const EXACT = 400;

interface Signs {
  readonly count: number;
  readonly width: number;
  readonly hashes: readonly string[];
  readonly bits: Uint32Array;
}

export function missingVectors(db: Db, maker: string, count: number): { hash: string; id: number }[] {
  return db.all(
    "SELECT c.hash AS hash, min(c.id) AS id FROM chunks c WHERE NOT EXISTS (SELECT 1 FROM vectors v WHERE v.hash = c.hash AND v.maker = ?) GROUP BY c.hash LIMIT ?",
    maker,
    count,
  );
}

export function putVector(db: Db, maker: string, hash: string, vector: Float32Array): void {
  const bytes = new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength);
  db.run("INSERT OR REPLACE INTO vectors (maker, hash, vector) VALUES (?, ?, ?)", maker, hash, bytes);
}

export function createVectors(db: Db, maker: string): Vectors {
  let signs: Signs | undefined;

  function signsFor(width: number): Signs {
    const { count } = db.get<{ count: number }>("SELECT count(*) AS count FROM vectors WHERE maker = ?", maker)!;
    if (signs?.count === count && signs.width === width) return signs;
    const words = Math.ceil(width / 32);
    const bits = new Uint32Array(count * words);
    const hashes: string[] = [];
    for (const row of db.iterate<{ hash: string; vector: Uint8Array }>(
      "SELECT hash, vector FROM vectors WHERE maker = ?",
      maker,
    )) {
      if (row.vector.byteLength !== width * 4 || hashes.length >= count) continue;
      pack(floats(row.vector), bits, hashes.length * words);
      hashes.push(row.hash);
    }
    return (signs = { count, width, hashes, bits });
  }

  return {
    nearest(query, count) {
      const { hashes, bits, width } = signsFor(query.length);
      const words = Math.ceil(width / 32);
      const own = new Uint32Array(words);
      pack(query, own, 0);
      const apart = hashes.map((hash, index) => {
        let sum = 0;
        for (let word = 0; word < words; word++) sum += ones(bits[index * words + word]! ^ own[word]!);
        return { hash, sum };
      });
      const near = apart.sort((a, b) => a.sum - b.sum).slice(0, EXACT);
      const exact = near.flatMap(({ hash }) => {
        const row = db.get<{ vector: Uint8Array }>(
          "SELECT vector FROM vectors WHERE maker = ? AND hash = ?",
          maker,
          hash,
        );
        return row ? [{ hash, likeness: dot(query, floats(row.vector)) }] : [];
      });
      const best = exact.sort((a, b) => b.likeness - a.likeness).slice(0, count);
      return best.flatMap(({ hash, likeness }) =>
        db
          .all<{ id: number }>("SELECT id FROM chunks WHERE hash = ? LIMIT 5", hash)
          .map(({ id }) => ({ chunk: id, likeness })),
      );
    },
  };
}

function floats(bytes: Uint8Array): Float32Array {
  return new Float32Array(bytes.slice().buffer);
}

function pack(vector: Float32Array, bits: Uint32Array, at: number): void {
  for (let index = 0; index < vector.length; index++)
    if (vector[index]! > 0) bits[at + (index >> 5)]! |= 1 << (index & 31);
}

function ones(word: number): number {
  let value = word - ((word >>> 1) & 0x55555555);
  value = (value & 0x33333333) + ((value >>> 2) & 0x33333333);
  return (((value + (value >>> 4)) & 0x0f0f0f0f) * 0x01010101) >>> 24;
}

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let index = 0; index < a.length; index++) sum += a[index]! * b[index]!;
  return sum;
}
