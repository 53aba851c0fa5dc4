import { closeSync, constants, lstatSync, openSync, readlinkSync, type Stats } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import picomatch from "picomatch";
import { Fault } from "../../base/fault.ts";
import { type Pinned, pinDir, type Roots, type SafePath } from "../../base/path/index.ts";
import { type EntryType, entryType, isoTimes } from "./facts.ts";
import { byBytes, namesOf } from "./list.ts";

const O_PATH = 0o10000000;
/** No list is longer, whatever the disk holds. */
const MAX_WALKED = 1_000_000;

export interface TreeEntry {
  /** As callers see it. */
  readonly path: string;
  readonly type: EntryType;
  readonly size_bytes: number;
  readonly mtime_iso: string;
}

export interface TreeOptions {
  /** 0: the folder's own entries only. */
  readonly depth: number;
  readonly include_hidden: boolean;
  /** Matches the path below the folder, or the name alone when it has no slash. Folders that do not match are walked all the same. */
  readonly file_glob?: string | undefined;
  readonly signal: AbortSignal;
}

/** Folder after folder, the nearest first, each in byte order, in batches of one folder. Links are listed and not followed. */
export async function* walkTree(roots: Roots, dir: SafePath, options: TreeOptions): AsyncGenerator<TreeEntry[]> {
  using top = pinDir(roots, dir);
  const matches = matcher(options.file_glob);
  const prefix = top.shown === "." ? "" : `${top.shown === "/" ? "" : top.shown}/`;
  let level = [""];
  const iso = isoTimes();
  let walked = 0;
  for (let depth = 0; depth <= options.depth && level.length > 0; depth++) {
    const next: string[] = [];
    for (const below of level) {
      options.signal.throwIfAborted();
      const batch: TreeEntry[] = [];
      readFolder(roots, dir, top, below, options.include_hidden, (rel, stat) => {
        walked++;
        const type = entryType(stat);
        if (type === "directory") next.push(rel);
        if (matches(rel)) batch.push({ path: prefix + rel, type, size_bytes: stat.size, mtime_iso: iso(stat.mtimeMs) });
      });
      if (walked > MAX_WALKED)
        throw new Fault("limit_exceeded", `More than ${MAX_WALKED} entries.`, { hint: "List a smaller folder." });
      if (batch.length > 0) yield batch;
      await nextTurn();
    }
    level = next;
  }
}

/** Reads one folder by descriptor. One that was moved or exchanged since it was seen, or that cannot be read, is left out. */
function readFolder(
  roots: Roots,
  asked: SafePath,
  top: Pinned,
  below: string,
  include_hidden: boolean,
  found: (rel: string, stat: Stats) => void,
): void {
  const fd = below === "" ? top.fd : openBelow(roots, asked, top, below);
  if (fd === undefined) return;
  try {
    const proc = `/proc/self/fd/${fd}`;
    for (const name of namesOf(proc, top.shown).sort(byBytes)) {
      if (!include_hidden && name.startsWith(".")) continue;
      const stat = lstatSync(`${proc}/${name}`, { throwIfNoEntry: false });
      if (stat) found(below === "" ? name : `${below}/${name}`, stat);
    }
  } catch (error) {
    if (below === "") throw error;
  } finally {
    if (fd !== top.fd) closeSync(fd);
  }
}

/** A folder below, if it is where it was and may be read. */
function openBelow(roots: Roots, asked: SafePath, top: Pinned, below: string): number | undefined {
  let fd: number;
  try {
    fd = openSync(`${top.proc}/${below}`, O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  } catch {
    return undefined;
  }
  try {
    const real = readlinkSync(`/proc/self/fd/${fd}`);
    if (real === `${top.real === "/" ? "" : top.real}/${below}`) {
      roots.admit(real, "read", asked);
      return fd;
    }
  } catch {
    // Denied to readers: listed by name, not entered.
  }
  closeSync(fd);
  return undefined;
}

function matcher(glob: string | undefined): (rel: string) => boolean {
  if (glob === undefined || glob === "") return () => true;
  if (glob.length > 1000) throw new Fault("invalid_args", "file_glob is longer than 1000 characters.");
  return picomatch(glob, { dot: true, basename: !glob.includes("/") });
}
