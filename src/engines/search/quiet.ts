import { lstatSync, statfsSync } from "node:fs";
import type { Pinned } from "../../base/path/index.ts";

/**
 * Whether names below a folder could have been exchanged since a moment. Every change of an entry moves its folder's ctime,
 * which nobody can set back: as long as all folders on the way are older than the search, ripgrep has read what stood there.
 */
export interface Quiet {
  /** As of now, or of an earlier question about the same folder. */
  isQuiet(folder: Buffer): boolean;
  /** Asks again about every folder from here on. */
  refresh(): void;
}

/** ext, xfs, btrfs, tmpfs, overlay, f2fs, zfs: local, so that their clock is ours. On others nothing counts as quiet. */
const LOCAL = new Set([0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630, 0xf2f52010, 0x2fc12fc1]);
/** The kernel's clock for files ticks in steps of up to 10 ms. */
const MARGIN_MS = 100;
const SLASH = 47;

export function createQuiet(top: Pinned): Quiet {
  const before_ms = Date.now() - MARGIN_MS;
  const base = Buffer.from(`${top.proc}/`);
  const isLocal = LOCAL.has(statfsSync(top.proc).type);
  const known = new Map<string, boolean>();

  function isQuiet(folder: Buffer): boolean {
    if (!isLocal) return false;
    const key = folder.toString("latin1");
    const answer = known.get(key) ?? (isOld(folder) && (folder.length === 0 || isQuiet(parentOf(folder))));
    known.set(key, answer);
    return answer;
  }

  function isOld(folder: Buffer): boolean {
    try {
      const stat = lstatSync(folder.length === 0 ? base : Buffer.concat([base, folder]));
      return stat.isDirectory() && stat.dev === top.stat.dev && stat.ctimeMs < before_ms;
    } catch {
      return false;
    }
  }

  return { isQuiet, refresh: () => known.clear() };
}

export function parentOf(name: Buffer): Buffer {
  return name.subarray(0, Math.max(0, name.lastIndexOf(SLASH)));
}
