import { dirname, join, normalize } from "node:path/posix";
import type { FileInfo } from "./definition.ts";
import { stemOf } from "./store.ts";
import type { View } from "./view.ts";

/** The first of these paths that is a file of the tree. */
export function firstFile(view: View, paths: readonly string[]): readonly FileInfo[] {
  for (const path of paths) {
    const found = path.startsWith("..") ? undefined : view.fileAt(path);
    if (found) return [found];
  }
  return [];
}

export function beside(from: FileInfo, path: string): string {
  return normalize(join(dirname(from.path), path));
}

/** Files whose path ends so, the nearest to whoever asks first. */
export function ending(view: View, from: FileInfo, endings: readonly string[]): readonly FileInfo[] {
  for (const end of endings) {
    const found = view.stems(stemOf(end)).filter(({ path }) => path === end || path.endsWith(`/${end}`));
    if (found.length > 0) return [nearest(from, found)];
  }
  return [];
}

function nearest(from: FileInfo, files: readonly FileInfo[]): FileInfo {
  const shared = (path: string) => {
    let count = 0;
    while (count < path.length && path[count] === from.path[count]) count++;
    return count;
  };
  return files.reduce((best, one) => (shared(one.path) > shared(best.path) ? one : best));
}
