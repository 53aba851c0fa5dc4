/** Files: read by descriptor in bounded slices, changed atomically under a lock and from a journal. */
import { type Pinned, pinFile, type Roots, type SafePath } from "../../base/path/index.ts";
import type { Schema, Store } from "../../base/store/types.ts";
import { type ByteSlice, readBytes, readWhole } from "./bytes.ts";
import type { Call } from "./change.ts";
import { type Edit, type Edited, type EditOptions, editText } from "./edit/index.ts";
import { type FileFacts, statFacts } from "./facts.ts";
import { createLineIndexes } from "./line-index.ts";
import { type LineSlice, readLines } from "./lines.ts";
import { type DirListing, listDir } from "./list.ts";
import type { Lease } from "./locks/index.ts";
import { type MadeDirs, makeDirsLocked } from "./mkdirs.ts";
import { type Moved, moveEntry } from "./move.ts";
import type { MaaslOptions } from "./options.ts";
import { applyPatch, type PatchOptions, type PatchResult } from "./patch/index.ts";
import { type Removed, removeEntry } from "./remove.ts";
import { type TreeEntry, type TreeOptions, walkTree } from "./tree.ts";
import { type WriteOptions, type Written, writeText } from "./write.ts";
import { createWriters } from "./writers.ts";

export type { BinaryKind } from "./binary.ts";
export type { ByteSlice } from "./bytes.ts";
export type { Call } from "./change.ts";
export type { Edit, Edited, EditOptions } from "./edit/index.ts";
export type { EntryType, FileFacts } from "./facts.ts";
export type { LineSlice } from "./lines.ts";
export type { DirListing } from "./list.ts";
export type { LockClass } from "./locks/classes.ts";
export type { Lease } from "./locks/index.ts";
export type { MadeDirs } from "./mkdirs.ts";
export type { Moved } from "./move.ts";
export type { PatchedFile, PatchOptions, PatchResult } from "./patch/index.ts";
export type { Removed } from "./remove.ts";
export { LOCKS } from "./store.ts";
export type { TreeEntry, TreeOptions } from "./tree.ts";
export type { WriteOptions, Written } from "./write.ts";

export interface FsDeps {
  /** Judges what the kernel pinned. Paths come minted. */
  readonly roots: Roots;
  /** Where locks and the journal live, shared by all processes on the repository. */
  readonly state_dir: string;
  /** Opens a part of the store that replicas share; without it the state folder holds a file. */
  readonly openShared?: ((schema: Schema) => Promise<Store>) | undefined;
}

export interface Fs {
  /** A regular file, held still: dispose of it. */
  open(file: SafePath): Pinned;
  readBytes(file: SafePath | Pinned, offset: number, max_bytes: number, signal?: AbortSignal): Promise<ByteSlice>;
  /** All of a file's bytes as they are. Its size is the caller's to judge before. */
  readWhole(file: Pinned, signal?: AbortSignal): Promise<Buffer>;
  readLines(file: SafePath | Pinned, offset_lines: number, max_lines: number, signal?: AbortSignal): Promise<LineSlice>;
  listDir(dir: SafePath, max_entries: number, include_hidden: boolean): DirListing;
  stat(path: SafePath): FileFacts;
  /** In batches of one folder, the nearest first. */
  walk(dir: SafePath, options: TreeOptions): AsyncGenerator<TreeEntry[]>;
  write(file: SafePath, content: string, options: WriteOptions, call: Call): Promise<Written>;
  edit(file: SafePath, edits: readonly Edit[], options: EditOptions, call: Call): Promise<Edited>;
  /** A unified diff over several files: all of it or nothing. */
  patch(text: string, options: PatchOptions, call: Call): Promise<PatchResult>;
  /** `into`: the target is a folder and the name is kept. */
  move(source: SafePath, target: SafePath, into: boolean, call: Call): Promise<Moved>;
  remove(path: SafePath, recursive: boolean, call: Call): Promise<Removed>;
  mkdirs(dir: SafePath, exist_ok: boolean, call: Call): Promise<MadeDirs>;
  /** Who holds what, in all processes on this state folder. */
  locks(): Promise<Lease[]>;
  /** What earlier processes left in the state folder is settled. A shared store is not waited for: that would cost readers. */
  readonly settled: Promise<void>;
  close(): Promise<void>;
}

/** Settles first what dead processes left half done. A store that cannot be opened hinders writers, not readers. */
export function createFs(options: MaaslOptions, deps: FsDeps): Fs {
  const { roots } = deps;
  const writers = createWriters(options, deps);
  const indexes = createLineIndexes();

  async function opened<T>(file: SafePath | Pinned, work: (pinned: Pinned) => Promise<T>): Promise<T> {
    if ("fd" in file) return work(file);
    using pinned = pinFile(roots, file);
    return await work(pinned);
  }

  return {
    open: (file) => pinFile(roots, file),
    readBytes: (file, offset, max_bytes, signal) =>
      opened(file, (pinned) => readBytes(pinned, offset, max_bytes, signal)),
    readWhole,
    readLines: (file, offset_lines, max_lines, signal) =>
      opened(file, (pinned) => readLines(pinned, indexes.of(pinned.stat), offset_lines, max_lines, signal)),
    listDir: (dir, max_entries, include_hidden) => listDir(roots, dir, max_entries, include_hidden),
    stat: (path) => statFacts(roots, path),
    walk: (dir, walk) => walkTree(roots, dir, walk),
    write: async (file, content, write, call) => writeText(await writers.get(), file, content, write, call),
    edit: async (file, edits, edit, call) => editText(await writers.get(), file, edits, edit, call),
    patch: async (text, patch, call) => applyPatch(await writers.get(), text, patch, call),
    move: async (source, target, into, call) => moveEntry(await writers.get(), source, target, into, call),
    remove: async (path, recursive, call) => removeEntry(await writers.get(), path, recursive, call),
    mkdirs: async (dir, exist_ok, call) => makeDirsLocked(await writers.get(), dir, exist_ok, call),
    async locks() {
      const { locks } = await writers.get();
      return (await locks.list()).map((lease) => ({ ...lease, resource: roots.shown(lease.resource) }));
    },
    settled: writers.settled,
    close: () => writers.close(),
  };
}
