import type { Stats } from "node:fs";
import type { BinaryKind } from "./binary.ts";
import { readInto } from "./io.ts";

export const BLOCK = 64 * 1024;
const CHUNK = 1024 * 1024;
/** Time stamps of a file system tick slowly: a file touched this close to its indexing may change again unseen. */
const TICK_MS = 50;

/** How many \n end in each block of a file: enough to find any line by reading one block. Eight bytes for each 64 KiB. */
export class LineIndex {
  /** What the file is if it is no text; null once it is known to be text. */
  binary: BinaryKind | null | undefined;
  readonly #size: number;
  /** Newlines up to the end of block i. */
  #totals: number[] = [];

  constructor(size: number) {
    this.#size = size;
  }

  get indexedBytes(): number {
    return Math.min(this.#size, this.#totals.length * BLOCK);
  }

  get isComplete(): boolean {
    return this.indexedBytes >= this.#size;
  }

  /** Newlines seen so far. */
  get newlines(): number {
    return this.#totals.at(-1) ?? 0;
  }

  /** Reads on until `newlines` of them are known, or `bytes` of the file, or its end. */
  async extend(fd: number, newlines: number, bytes: number, signal?: AbortSignal): Promise<void> {
    const end = Math.min(this.#size, bytes);
    let chunk: Buffer | undefined;
    while (this.newlines < newlines && this.indexedBytes < end) {
      signal?.throwIfAborted();
      const from = this.indexedBytes;
      const length = Math.min(CHUNK, this.#size - from);
      chunk ??= Buffer.allocUnsafeSlow(Math.ceil(length / 4) * 4);
      const read = await readInto(fd, chunk.subarray(0, length), from, signal);
      for (let at = 0; at < length; at += BLOCK) {
        const stop = Math.min(at + BLOCK, read.length);
        this.#totals.push(this.newlines + (stop > at ? countNewlines(chunk, at, stop) : 0));
      }
    }
  }

  /** A block that holds the end of line `line - 1`, and how many lines begin before that block. */
  blockBefore(line: number): { offset: number; skipped: number } {
    let low = 0;
    let high = this.#totals.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#totals[middle]! >= line) high = middle;
      else low = middle + 1;
    }
    return { offset: low * BLOCK, skipped: low === 0 ? 0 : this.#totals[low - 1]! };
  }
}

/** Counts four bytes at a time where memory is aligned: a byte equal to \n leaves its lane's high bit clear. */
export function countNewlines(bytes: Buffer, start: number, end: number): number {
  let count = 0;
  let at = start;
  for (; at < end && (bytes.byteOffset + at) % 4 !== 0; at++) if (bytes[at] === 10) count++;
  if (end - at >= 4) {
    const words = new Int32Array(bytes.buffer, bytes.byteOffset + at, (end - at) >> 2);
    let index = 0;
    while (index < words.length) {
      const stop = Math.min(index + 255, words.length);
      let lanes = 0;
      for (; index < stop; index++) {
        const word = words[index]! ^ 0x0a0a0a0a;
        lanes += (~(((word & 0x7f7f7f7f) + 0x7f7f7f7f) | word) >>> 7) & 0x01010101;
      }
      count += (lanes & 0xff) + ((lanes >>> 8) & 0xff) + ((lanes >>> 16) & 0xff) + (lanes >>> 24);
    }
    at += words.length * 4;
  }
  for (; at < end; at++) if (bytes[at] === 10) count++;
  return count;
}

/** Indexes of the files read last, each for one version of its file. */
export function createLineIndexes(max_files = 64): { of(stat: Stats): LineIndex } {
  const kept = new Map<string, { index: LineIndex; version: string; made_ms: number }>();
  return {
    of(stat) {
      const key = `${stat.dev}:${stat.ino}`;
      const version = `${stat.size}:${stat.mtimeMs}:${stat.ctimeMs}`;
      const known = kept.get(key);
      kept.delete(key);
      const isTrusted = known?.version === version && stat.ctimeMs < known.made_ms - TICK_MS;
      const entry = isTrusted ? known : { index: new LineIndex(stat.size), version, made_ms: Date.now() };
      kept.set(key, entry);
      if (kept.size > max_files) kept.delete(kept.keys().next().value!);
      return entry.index;
    },
  };
}
