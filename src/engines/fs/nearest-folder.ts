import { basename, dirname } from "node:path";
import { Fault } from "../../base/fault.ts";
import { pinDir, type Roots, type SafePath } from "../../base/path/index.ts";

/** The deepest folder above the path that exists, and the names of those that do not. */
export function nearestFolder(roots: Roots, path: SafePath): { real: string; missing: string[] } {
  const missing: string[] = [];
  for (let abs = dirname(path.abs); ; abs = dirname(abs)) {
    try {
      using folder = pinDir(roots, roots.mint(abs, "read"));
      return { real: folder.real, missing: missing.reverse() };
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== "file_not_found") throw error;
    }
    missing.push(abs.slice(abs.lastIndexOf("/") + 1));
  }
}

/** Where the path will be, although folders above it are still missing. */
export function realOf(roots: Roots, path: SafePath): string {
  const { real, missing } = nearestFolder(roots, path);
  return [real === "/" ? "" : real, ...missing, basename(path.abs)].join("/");
}
