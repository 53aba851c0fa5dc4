import { readlinkSync, type Stats } from "node:fs";
import { pin, type Roots, type SafePath } from "../../base/path/index.ts";

export type EntryType = "file" | "directory" | "symlink" | "fifo" | "socket" | "device";

export interface FileFacts {
  /** As callers see it, links resolved. */
  readonly path: string;
  readonly type: EntryType;
  readonly size: number;
  readonly mtime: string;
  /** Permission bits as chmod takes them, such as 0644. */
  readonly mode: string;
  readonly uid: number;
  readonly gid: number;
  /** Where the link leads, when the path itself is one. */
  readonly link?: string;
}

/** Facts of what the path leads to. A link that leaves the roots is refused. */
export function statFacts(roots: Roots, path: SafePath): FileFacts {
  using pinned = pin(roots, path);
  const stat = pinned.stat;
  const link = pinned.real === path.abs ? undefined : linkText(path.abs);
  return {
    path: pinned.shown,
    type: entryType(stat),
    size: stat.size,
    mtime: isoTime(stat.mtimeMs),
    mode: (stat.mode & 0o7777).toString(8).padStart(4, "0"),
    uid: stat.uid,
    gid: stat.gid,
    ...(link === undefined ? {} : { link }),
  };
}

export function entryType(
  entry: Pick<Stats, "isFile" | "isDirectory" | "isSymbolicLink" | "isFIFO" | "isSocket">,
): EntryType {
  if (entry.isFile()) return "file";
  if (entry.isDirectory()) return "directory";
  if (entry.isSymbolicLink()) return "symlink";
  if (entry.isFIFO()) return "fifo";
  return entry.isSocket() ? "socket" : "device";
}

export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

/** The same for many times, most of which lie in the same second. */
export function isoTimes(): (ms: number) => string {
  let second = Number.NaN;
  let start = "";
  return (ms) => {
    const whole = Math.floor(ms / 1000);
    if (whole !== second) {
      second = whole;
      start = isoTime(whole * 1000).slice(0, -4);
    }
    return `${start}${String(Math.floor(ms) - whole * 1000).padStart(3, "0")}Z`;
  };
}

function linkText(abs: string): string | undefined {
  try {
    return readlinkSync(abs);
  } catch {
    return undefined;
  }
}
