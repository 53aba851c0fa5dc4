import { relative } from "node:path";
import { inside } from "../base/path/index.ts";

/** A path as people write it: from where they are, or from their home. */
export function shorter(path: string, cwd: string, home: string | undefined): string {
  if (path !== cwd && inside(path, cwd)) return relative(cwd, path);
  return home !== undefined && home !== "/" && inside(path, home) ? `~${path.slice(home.length)}` : path;
}
