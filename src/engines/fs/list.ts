import { type Dirent, readdirSync } from "node:fs";
import { pinDir, type Roots, type SafePath, translated } from "../../base/path/index.ts";

export interface DirListing {
  /** In byte order; folders end in `/`. */
  readonly names: string[];
  readonly truncated: boolean;
  /** As callers see it. */
  readonly path: string;
}

/** One folder. Links are listed as names and not followed. */
export function listDir(roots: Roots, dir: SafePath, max_entries: number, include_hidden: boolean): DirListing {
  using pinned = pinDir(roots, dir);
  const entries = entriesOf(pinned.proc, pinned.shown);
  const names: string[] = [];
  for (const entry of entries)
    if (include_hidden || !entry.name.startsWith(".")) names.push(entry.isDirectory() ? `${entry.name}/` : entry.name);
  names.sort();
  return { names: names.slice(0, max_entries), truncated: names.length > max_entries, path: pinned.shown };
}

export function entriesOf(proc: string, shown: string): Dirent[] {
  try {
    return readdirSync(proc, { withFileTypes: true });
  } catch (error) {
    throw translated(shown, error);
  }
}

export function namesOf(proc: string, shown: string): string[] {
  try {
    return readdirSync(proc);
  } catch (error) {
    throw translated(shown, error);
  }
}

export function byBytes(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
