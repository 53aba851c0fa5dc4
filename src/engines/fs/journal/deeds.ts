import {
  closeSync,
  constants,
  copyFileSync,
  fstatSync,
  ftruncateSync,
  linkSync,
  lstatSync,
  openSync,
  readdirSync,
  renameSync,
  rmdirSync,
  type Stats,
  unlinkSync,
} from "node:fs";
import { readIntoSync } from "../io.ts";
import { removeTree } from "../remove-tree.ts";

const O_PATH = 0o10000000;

/** A folder to come back to: by its path, and only if it is still the same one. */
export interface DirRef {
  readonly path: string;
  readonly dev: number;
  readonly ino: number;
}

/** A file as it was when the change was made up. */
export interface FileVersion {
  readonly ino: number;
  readonly size: number;
  readonly mtime_ms: number;
}

/** One step of a change, written down before it is taken. `temp` and `spare` are names that nobody else uses. */
export type Deed =
  /** `temp` becomes `name`; what was there before is kept as `spare` until the whole change is done. */
  | {
      readonly kind: "put";
      readonly dir: DirRef;
      readonly name: string;
      readonly temp: string;
      readonly spare: string;
      readonly seen: FileVersion | null;
    }
  /** `name` becomes `spare` and is gone when the whole change is done. */
  | { readonly kind: "drop"; readonly dir: DirRef; readonly name: string; readonly ino: number; readonly spare: string }
  /** A folder made for the change, with folders in it. */
  | { readonly kind: "mkdir"; readonly dir: DirRef; readonly name: string }
  /** Bytes written at the end, in place. */
  | {
      readonly kind: "append";
      readonly dir: DirRef;
      readonly name: string;
      readonly ino: number;
      readonly size: number;
      readonly length: number;
    }
  /** A second name was given to a file, then the first is taken away. */
  | {
      readonly kind: "move";
      readonly dir: DirRef;
      readonly name: string;
      readonly to: DirRef;
      readonly to_name: string;
      readonly ino: number;
    }
  /** Something under a temporary name that has no place in the end, with all below it. */
  | { readonly kind: "trash"; readonly dir: DirRef; readonly temp: string };

/** Clears away what was prepared for a step that was never taken. `bytes` is what an append was to write. */
export function unstage(deed: Deed, bytes?: Uint8Array): void {
  if (deed.kind === "put" || deed.kind === "trash") within(deed.dir, (dir) => void removeTree(`${dir}/${deed.temp}`));
  if (deed.kind === "mkdir") within(deed.dir, (dir) => removeEmpty(`${dir}/${deed.name}`));
  if (deed.kind === "append") within(deed.dir, (dir) => cutBack(`${dir}/${deed.name}`, deed, bytes));
}

/** Takes the step. Taking it twice is the same as once. */
export function forward(deed: Deed): void {
  if (deed.kind === "put") within(deed.dir, (dir) => putInPlace(dir, deed));
  if (deed.kind === "drop")
    within(deed.dir, (dir) => {
      if (lookAt(`${dir}/${deed.name}`)?.ino === deed.ino) renameSync(`${dir}/${deed.name}`, `${dir}/${deed.spare}`);
    });
  if (deed.kind === "move")
    within(deed.dir, (dir) =>
      within(deed.to, (to) => {
        const isThere = lookAt(`${to}/${deed.to_name}`)?.ino === deed.ino;
        if (isThere && lookAt(`${dir}/${deed.name}`)?.ino === deed.ino) unlinkSync(`${dir}/${deed.name}`);
      }),
    );
}

/** Undoes a step that was taken, or half taken, or not reached. */
export function back(deed: Deed): void {
  if (deed.kind === "put")
    within(deed.dir, (dir) => {
      const temp = lookAt(`${dir}/${deed.temp}`);
      const there = lookAt(`${dir}/${deed.name}`);
      if (lookAt(`${dir}/${deed.spare}`)) renameSync(`${dir}/${deed.spare}`, `${dir}/${deed.name}`);
      else if (!deed.seen && there && (!temp || temp.ino === there.ino)) removeTree(`${dir}/${deed.name}`);
    });
  if (deed.kind === "drop")
    within(deed.dir, (dir) => {
      if (lookAt(`${dir}/${deed.spare}`)) renameSync(`${dir}/${deed.spare}`, `${dir}/${deed.name}`);
    });
  unstage(deed);
}

/** Clears away what the change no longer needs once every step was taken. */
export function finish(deed: Deed): void {
  if (deed.kind === "put" || deed.kind === "drop") within(deed.dir, (dir) => void removeTree(`${dir}/${deed.spare}`));
  if (deed.kind === "trash") unstage(deed);
}

function putInPlace(dir: string, deed: Deed & { kind: "put" }): void {
  const temp = lookAt(`${dir}/${deed.temp}`);
  if (!temp) return;
  const there = lookAt(`${dir}/${deed.name}`);
  if (deed.seen && !lookAt(`${dir}/${deed.spare}`)) {
    // After a crash too: what another program put there meanwhile is not ours to replace.
    if (!there || !isVersion(there, deed.seen)) throw new Error("the file is another one now");
    keepSpare(`${dir}/${deed.name}`, `${dir}/${deed.spare}`);
  }
  // What is new gets its name only where there is none: a rename would replace what appeared meanwhile.
  const isNamed =
    !deed.seen && temp.isFile() && (there?.ino === temp.ino || giveName(`${dir}/${deed.temp}`, `${dir}/${deed.name}`));
  if (isNamed) unlinkSync(`${dir}/${deed.temp}`);
  else renameSync(`${dir}/${deed.temp}`, `${dir}/${deed.name}`);
}

/** A second name for a file, if its file system has such; throws when the name is taken. */
export function giveName(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (["EPERM", "EOPNOTSUPP", "EMLINK"].includes((error as NodeJS.ErrnoException).code ?? "")) return false;
    throw error;
  }
}

export function versionOf(stat: Stats | undefined): FileVersion | null {
  return stat ? { ino: stat.ino, size: stat.size, mtime_ms: stat.mtimeMs } : null;
}

function isVersion(stat: Stats, seen: FileVersion): boolean {
  return stat.ino === seen.ino && stat.size === seen.size && stat.mtimeMs === seen.mtime_ms;
}

export function refOf(dir: { readonly real: string; readonly stat: Stats }): DirRef {
  return { path: dir.real, dev: dir.stat.dev, ino: dir.stat.ino };
}

/** Does the work in the folder, by descriptor. A folder that is gone or another one now has nothing of ours. */
function within(ref: DirRef, work: (proc: string) => void): void {
  const fd = tryTo(() => openSync(ref.path, O_PATH | constants.O_DIRECTORY));
  if (fd === undefined) return;
  try {
    const stat = fstatSync(fd);
    if (stat.dev === ref.dev && stat.ino === ref.ino) work(`/proc/self/fd/${fd}`);
  } finally {
    closeSync(fd);
  }
}

function lookAt(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false });
}

/** A second name costs nothing; where the file system has none, a copy. */
function keepSpare(path: string, spare: string): void {
  if (!giveName(path, spare)) copyFileSync(path, spare, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
}

/** Folders in which nothing is, from the innermost out. Links are not followed: they are something. */
function removeEmpty(path: string): void {
  if (!lookAt(path)?.isDirectory()) return;
  for (const name of readdirSync(path)) removeEmpty(`${path}/${name}`);
  tryTo(() => rmdirSync(path));
}

/** Cuts off what a crash left of our bytes. Bytes that are not ours, or all of ours, stay. */
function cutBack(path: string, deed: Deed & { kind: "append" }, bytes: Uint8Array | undefined): void {
  const fd = tryTo(() => openSync(path, constants.O_RDWR | constants.O_NOFOLLOW | constants.O_NONBLOCK));
  if (fd === undefined) return;
  try {
    const { ino, size } = fstatSync(fd);
    const extra = size - deed.size;
    if (ino !== deed.ino || extra <= 0 || extra >= deed.length) return;
    const found = bytes && readIntoSync(fd, Buffer.allocUnsafe(extra), deed.size);
    if (!found || found.equals(bytes.subarray(0, extra))) ftruncateSync(fd, deed.size);
  } finally {
    closeSync(fd);
  }
}

function tryTo<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
