import {
  accessSync,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  lstatSync,
  openSync,
  renameSync,
  type Stats,
  unlinkSync,
  writeSync,
} from "node:fs";
import { asFault, Fault } from "../../base/fault.ts";
import { type Place, place, type Roots, type SafePath, translated } from "../../base/path/index.ts";
import { visible } from "../../base/text.ts";
import { readInto, synced } from "./io.ts";
import { type Journal, refOf, tempName } from "./journal/index.ts";
import { CLASSES, classOf } from "./locks/classes.ts";
import type { Hold, Locks } from "./locks/index.ts";

/** What every change of files stands on. */
export interface ChangeDeps {
  readonly roots: Roots;
  readonly locks: Locks;
  readonly journal: Journal;
}

/** For whom a change is made. */
export interface Call {
  /** Shown to others who wait for the same file. */
  readonly owner: string;
  readonly signal: AbortSignal;
}

/** Files that are changed by content are held in memory: larger ones are refused. */
export const MAX_CHANGE_BYTES = 8 * 1024 * 1024;
const MAX_TURNS = 4;

/** Does the work while the resolved path is locked. The place is taken again under the lock: it may have moved while we waited. */
export async function locked<T>(
  deps: ChangeDeps,
  path: SafePath,
  call: Call,
  work: (here: Place, hold: Hold) => Promise<T>,
): Promise<T> {
  for (let turn = 0; turn < MAX_TURNS; turn++) {
    const { real, shown } = where(deps.roots, path);
    const hold = await deps.locks.take([{ real, shown }], call.owner, call.signal);
    try {
      using here = writePlace(deps.roots, path);
      if (here.real === real) return await work(here, hold);
    } catch (error) {
      const isTriedAgain = error instanceof OutsideChange && CLASSES[classOf(real)].changed === "apply_again";
      if (!isTriedAgain || turn === MAX_TURNS - 1) throw error;
    } finally {
      await hold.release();
    }
  }
  throw new Fault("resource_busy", `The folder of ${visible(path.shown)} keeps moving; nothing was changed.`);
}

function where(roots: Roots, path: SafePath): { real: string; shown: string } {
  using here = writePlace(roots, path);
  return { real: here.real, shown: here.shown };
}

/** The place of a write; says so when it is the folder that is missing. */
export function writePlace(roots: Roots, path: SafePath): Place {
  try {
    return place(roots, path);
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== "file_not_found") throw error;
    throw new Fault("file_not_found", `The folder of ${visible(path.shown)} does not exist.`, {
      hint: "Make it with linux_fs_mkdirs.",
    });
  }
}

/** The regular file that is there now, if one is. */
export function present(here: Place): Stats | undefined {
  const stat = looked(here);
  if (!stat) return undefined;
  if (stat.isDirectory()) throw new Fault("is_directory", `${visible(here.shown)} is a folder.`);
  if (!stat.isFile())
    throw new Fault("path_denied", `${visible(here.shown)} is not a regular file.`, { rule: "regular files only" });
  try {
    // A rename needs only the folder's permission: a file that was made read-only is still not to be replaced.
    accessSync(here.proc, constants.W_OK);
  } catch (error) {
    throw translated(here.shown, error);
  }
  return stat;
}

/** A folder that may not be searched does not even tell what is in it. */
function looked(here: Place): Stats | undefined {
  try {
    return lstatSync(here.proc, { throwIfNoEntry: false });
  } catch (error) {
    throw translated(here.shown, error);
  }
}

/** Opens the very file that was seen. */
export function openSeen(here: Place, seen: Stats, flags: number): number {
  let fd: number;
  try {
    fd = openSync(here.proc, flags | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch (error) {
    throw translated(here.shown, error);
  }
  if (fstatSync(fd).ino === seen.ino) return fd;
  closeSync(fd);
  throw changedOutside(here);
}

/** The whole of a file small enough to be changed in memory. */
export async function readWhole(here: Place, seen: Stats, signal: AbortSignal): Promise<Buffer> {
  if (seen.size > MAX_CHANGE_BYTES)
    throw new Fault(
      "file_too_large",
      `${visible(here.shown)} has ${seen.size} bytes; this works up to ${MAX_CHANGE_BYTES}.`,
    );
  const fd = openSeen(here, seen, constants.O_RDONLY);
  try {
    const bytes = await readInto(fd, Buffer.allocUnsafe(seen.size), 0, signal);
    if (differs(fstatSync(fd), seen)) throw changedOutside(here);
    return bytes;
  } finally {
    closeSync(fd);
  }
}

/** Whether the place holds another file or version than was seen. */
export function hasChanged(here: Place, seen: Stats | undefined): boolean {
  const now = lstatSync(here.proc, { throwIfNoEntry: false });
  if (!now || !seen) return now !== seen;
  return differs(now, seen);
}

function differs(now: Stats, seen: Stats): boolean {
  return now.ino !== seen.ino || now.size !== seen.size || now.mtimeMs !== seen.mtimeMs || now.dev !== seen.dev;
}

/** Noticed under the lock: a program that takes no locks was there too. */
class OutsideChange extends Fault {}

export function changedOutside(here: { readonly shown: string }): Fault {
  return new OutsideChange(
    "sha_mismatch",
    `Another program changed ${visible(here.shown)} meanwhile; nothing was written.`,
    {
      hint: "Read it again, then repeat.",
    },
  );
}

interface Replacement {
  readonly bytes: Uint8Array;
  /** What is there now: its mode and owner are kept. */
  readonly seen: Stats | undefined;
  /** Sets or clears the execute bits where reading is allowed. */
  readonly executable?: boolean | undefined;
  /** Looked at last, under the lock, right before the new file takes the place. */
  readonly check?: () => void;
  /** Work for the time in which the disk is waited for. */
  readonly meanwhile?: () => void;
}

/** The new file is written beside the old one, reaches the disk, and takes its place in one step. */
export async function replaceFile(deps: ChangeDeps, here: Place, hold: Hold, next: Replacement): Promise<void> {
  const temp = tempName();
  const path = `${here.dir.proc}/${temp}`;
  const id = await deps.journal.begin(hold, "staged", [{ kind: "trash", dir: refOf(here.dir), temp }]);
  try {
    const fd = stage(path, next);
    try {
      await Promise.all([synced(fd), next.meanwhile?.()]);
    } finally {
      closeSync(fd);
    }
    await hold.commit(() => {
      next.check?.();
      renameSync(path, here.proc);
    }, id);
  } catch (error) {
    forget(path);
    await deps.journal.end(id);
    throw writeFault(here.shown, error);
  }
}

/** A new file with the bytes in it and the mode and owner it shall have. */
export function stage(path: string, next: Replacement): number {
  const fd = openSync(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, 0o666);
  try {
    writeAll(fd, next.bytes);
    if (next.seen) keepOwner(fd, next.seen);
    const mode = next.seen?.mode ?? fstatSync(fd).mode;
    if (next.seen || next.executable !== undefined) fchmodSync(fd, withExecution(mode & 0o7777, next.executable));
    return fd;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

function withExecution(mode: number, executable: boolean | undefined): number {
  if (executable === undefined) return mode;
  return executable ? mode | ((mode & 0o444) >> 2) : mode & ~0o111;
}

export function writeAll(fd: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done, bytes.length - done);
}

function keepOwner(fd: number, seen: Stats): void {
  const own = fstatSync(fd);
  if (own.uid === seen.uid && own.gid === seen.gid) return;
  try {
    fchownSync(fd, seen.uid, seen.gid);
  } catch {
    // Only the superuser can give files away; for others a rewrite makes the file theirs, as with any editor.
  }
}

export function forget(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // It was never made, or it is in its place already.
  }
}

/** A failed write as callers see it. */
export function writeFault(shown: string, error: unknown): unknown {
  if (error instanceof Fault || !(error as NodeJS.ErrnoException).syscall) return error;
  const general = asFault(error);
  if (general.code !== "internal_error") return general;
  const known = translated(shown, error);
  if (known.code !== "internal_error") return known;
  return new Fault("write_failed", `${visible(shown)} could not be written.`, { cause: error });
}
