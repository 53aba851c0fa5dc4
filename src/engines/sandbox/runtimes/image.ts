import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { constants, zstdCompress, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import type { Files, FilesDump } from "./files.ts";
import type { Kept, Quotas } from "./types.ts";

const PAGE = 4096;
const ZERO = Buffer.alloc(PAGE);
const FORMAT = 1;
/** Memory often holds the same twice, far apart: what was read, and what was made of it. */
const FAST = {
  params: {
    [constants.ZSTD_c_compressionLevel]: 1,
    [constants.ZSTD_c_enableLongDistanceMatching]: 1,
    [constants.ZSTD_c_windowLog]: 25,
  },
  chunkSize: 1024 * 1024,
};

interface ImageDeps {
  readonly runtime_id: string;
  readonly memory: WebAssembly.Memory;
  readonly files: Files;
  readonly quotas: Quotas;
}

/** The memory of an interpreter at rest, against the pristine one that every instance begins with. */
export interface Images {
  readonly pristine_bytes: number;
  /** As it was in the beginning: no variable, no file. */
  renew(): void;
  /** What differs from the pristine image, and the workspace, compressed. `more` comes back from `load`. */
  save(more: Record<string, unknown>): Uint8Array;
  /** A copy of the state, cheap enough to be made after every run. */
  keep(more: Record<string, unknown>): Kept;
  load(image: Uint8Array): { readonly more: Record<string, unknown> } | { readonly refused: string };
}

interface Header {
  readonly format: number;
  /** Runtime, driver and pristine memory: an image fits nothing else. */
  readonly id: string;
  readonly total_bytes: number;
  /** What the pages differ from: the pristine image, or nothing at all. */
  readonly base: "pristine" | "zero";
  readonly entries: FilesDump["entries"];
  readonly more: Record<string, unknown>;
  readonly parts: readonly number[];
}

/** Taken at the first moment of rest. */
export function takeImages({ runtime_id, memory, files, quotas }: ImageDeps): Images {
  const bytes = () => new Uint8Array(memory.buffer);
  const pristine = bytes().slice();
  const id = checksum(runtime_id, pristine);
  let kept_memory: SharedArrayBuffer | undefined;
  let kept_version = -1;

  const headerOf = (more: Header["more"], entries: Header["entries"], base: Header["base"]) => ({
    format: FORMAT,
    id,
    total_bytes: memory.buffer.byteLength,
    base,
    entries,
    more,
  });

  return {
    pristine_bytes: pristine.length,
    renew() {
      const now = bytes();
      now.set(pristine);
      now.fill(0, pristine.length);
      files.clear();
    },
    save(more) {
      const dump = files.dump();
      return zstdCompressSync(laidOut(headerOf(more, dump.entries, "pristine"), bytes(), pristine, dump.bytes), FAST);
    },
    keep(more) {
      if (kept_memory?.byteLength !== memory.buffer.byteLength)
        kept_memory = new SharedArrayBuffer(memory.buffer.byteLength);
      new Uint8Array(kept_memory).set(bytes());
      const isSame = files.version() === kept_version;
      kept_version = files.version();
      const dump = files.dump(isSame);
      return {
        header: { ...headerOf(more, dump.entries, "zero") },
        memory: kept_memory,
        ...(isSame ? {} : { files: dump.bytes }),
      };
    },
    load(image) {
      const { header, parts } = unpack(image, quotas.memory_bytes * 2 + quotas.workspace_bytes + 1024 * 1024);
      if (header.format !== FORMAT || header.id !== id)
        return { refused: "it was made by another version of the runtime" };
      const before = memory.buffer.byteLength;
      const missing = Math.ceil((header.total_bytes - memory.buffer.byteLength) / 65_536);
      try {
        if (header.total_bytes > quotas.memory_bytes + pristine.length) throw new RangeError();
        if (missing > 0) memory.grow(missing);
      } catch {
        return { refused: "it needs more memory than mcp.sandbox.memory_mb allows" };
      }
      try {
        files.load({ entries: header.entries, bytes: parts[2]! });
      } catch {
        return { refused: "its workspace is larger than the quotas allow" };
      }
      const now = bytes();
      // What was grown just now is empty, and need not be touched.
      now.fill(0, 0, before);
      if (header.base === "pristine") now.set(pristine);
      putPages(now, new Uint32Array(Uint8Array.from(parts[0]!).buffer), parts[1]!);
      return { more: header.more };
    },
  };
}

/** An image from what a worker left behind. Compressed aside: the keeper has other guests to serve meanwhile. */
export function packKept(kept: Required<Kept>): Promise<Uint8Array> {
  const header = kept.header as unknown as PageHeader;
  return promisify(zstdCompress)(laidOut(header, new Uint8Array(kept.memory), new Uint8Array(0), kept.files), FAST);
}

type PageHeader = Omit<Header, "parts">;

/** A header that says what it is for, then the parts. */
function laidOut(header: PageHeader, memory: Uint8Array, base: Uint8Array, files: Uint8Array): Buffer {
  const { numbers, pages } = changedPages(memory, base);
  const parts = [Buffer.from(numbers.buffer), pages, files];
  const head = Buffer.from(JSON.stringify({ ...header, parts: parts.map((part) => part.length) }));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(head.length);
  return Buffer.concat([length, head, ...parts]);
}

function changedPages(memory: Uint8Array, pristine: Uint8Array): { numbers: Uint32Array<ArrayBuffer>; pages: Buffer } {
  const now = Buffer.from(memory.buffer, memory.byteOffset, memory.length);
  const before = Buffer.from(pristine.buffer, pristine.byteOffset, pristine.length);
  const numbers: number[] = [];
  for (let at = 0; at < now.length; at += PAGE) {
    const isSame =
      at < before.length
        ? now.compare(before, at, at + PAGE, at, at + PAGE) === 0
        : now.compare(ZERO, 0, PAGE, at, at + PAGE) === 0;
    if (!isSame) numbers.push(at / PAGE);
  }
  const pages = Buffer.allocUnsafe(numbers.length * PAGE);
  for (const [index, page] of numbers.entries()) now.copy(pages, index * PAGE, page * PAGE, (page + 1) * PAGE);
  return { numbers: Uint32Array.from(numbers), pages };
}

/** Neighbours go in one move. */
function putPages(memory: Uint8Array, numbers: Uint32Array, pages: Uint8Array): void {
  for (let from = 0, to = 1; from < numbers.length; from = to++) {
    while (to < numbers.length && numbers[to] === numbers[to - 1]! + 1) to++;
    memory.set(pages.subarray(from * PAGE, to * PAGE), numbers[from]! * PAGE);
  }
}

function unpack(image: Uint8Array, max_bytes: number): { header: Header; parts: Uint8Array[] } {
  const plain = zstdDecompressSync(image, {
    maxOutputLength: max_bytes,
    // Large enough that most come in one piece, which is then not copied once more.
    chunkSize: Math.min(max_bytes, Math.max(1024 * 1024, image.length * 2)),
  });
  const size = plain.readUInt32LE(0);
  const header = JSON.parse(plain.toString("utf8", 4, 4 + size)) as Header;
  let at = 4 + size;
  const parts = header.parts.map((length) => plain.subarray(at, (at += length)));
  return { header, parts };
}

export function checksum(...parts: readonly (string | Uint8Array)[]): string {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest("hex").slice(0, 32);
}
