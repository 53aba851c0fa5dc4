/** Files: read by descriptor in bounded slices, changed atomically under a lock and from a journal. */
import type { Pinned, Roots, SafePath } from "../../base/path/index.ts";
import { type ByteSlice, readBytes } from "./bytes.ts";
import { type FileFacts, statFacts } from "./facts.ts";
import { openFile } from "./io.ts";
import { createLineIndexes } from "./line-index.ts";
import { type LineSlice, readLines } from "./lines.ts";
import { type DirListing, listDir } from "./list.ts";
import type { MaaslOptions } from "./options.ts";

export type { BinaryKind } from "./binary.ts";
export type { ByteSlice } from "./bytes.ts";
export type { EntryType, FileFacts } from "./facts.ts";
export type { LineSlice } from "./lines.ts";
export type { DirListing } from "./list.ts";

export interface FsDeps {
  /** Judges what the kernel pinned. Paths come minted. */
  readonly roots: Roots;
  /** Where locks and the journal live, shared by all processes on the repository. */
  readonly state_dir: string;
}

export interface Fs {
  /** A regular file, held still: dispose of it. */
  open(file: SafePath): Pinned;
  readBytes(file: SafePath | Pinned, offset: number, max_bytes: number, signal?: AbortSignal): Promise<ByteSlice>;
  readLines(file: SafePath | Pinned, offset_lines: number, max_lines: number, signal?: AbortSignal): Promise<LineSlice>;
  listDir(dir: SafePath, max_entries: number, include_hidden: boolean): DirListing;
  stat(path: SafePath): FileFacts;
}

export function createFs(_options: MaaslOptions, deps: FsDeps): Fs {
  const { roots } = deps;
  const indexes = createLineIndexes();

  async function opened<T>(file: SafePath | Pinned, work: (pinned: Pinned) => Promise<T>): Promise<T> {
    if ("fd" in file) return work(file);
    using pinned = openFile(roots, file);
    return await work(pinned);
  }

  return {
    open: (file) => openFile(roots, file),
    readBytes: (file, offset, max_bytes, signal) =>
      opened(file, (pinned) => readBytes(pinned, offset, max_bytes, signal)),
    readLines: (file, offset_lines, max_lines, signal) =>
      opened(file, (pinned) => readLines(pinned, indexes.of(pinned.stat), offset_lines, max_lines, signal)),
    listDir: (dir, max_entries, include_hidden) => listDir(roots, dir, max_entries, include_hidden),
    stat: (path) => statFacts(roots, path),
  };
}
