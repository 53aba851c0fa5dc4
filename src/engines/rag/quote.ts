import { closeSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pinFile, type Roots, reopen } from "../../base/path/index.ts";
import type { Picked } from "./pack.ts";
import { hashOf } from "./store.ts";

export interface Quotable {
  /** The texts of files that are what the index says. */
  readonly texts: ReadonlyMap<string, string>;
  /** Files that are not: changed, gone, or not ours to read any more. */
  readonly changed: readonly string[];
}

/** Reads what would be quoted, by descriptor and under the guard, and holds it against the index. */
export function readQuoted(roots: Roots, root: string, picked: readonly Picked[], max_bytes: number): Quotable {
  const texts = new Map<string, string>();
  const changed: string[] = [];
  for (const file of new Set(picked.map((one) => one.file))) {
    const bytes = bytesOf(roots, join(root, file.path), max_bytes);
    if (bytes && hashOf(bytes) === file.hash) texts.set(file.path, bytes.toString("utf8"));
    else changed.push(file.path);
  }
  return { texts, changed };
}

/** A file as it is now, if it may be read. */
export function bytesOf(roots: Roots, path: string, max_bytes: number): Buffer | undefined {
  try {
    using pinned = pinFile(roots, roots.mint(path, "read"));
    if (pinned.stat.size > max_bytes) return undefined;
    const fd = reopen(pinned);
    try {
      return readFileSync(fd);
    } finally {
      closeSync(fd);
    }
  } catch {
    return undefined;
  }
}
