import { readFileSync, realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import { inside } from "../../base/path/index.ts";

const MAX_BYTES = 256 * 1024;

/**
 * A file of the repository, or undefined. A link in a cloned repository may lead to a file of the user's own: what lies outside is not
 * read, because what is read here ends up where models read it.
 */
export function readInside(root: string, name: string): string | undefined {
  try {
    const path = realpathSync(join(root, name));
    const stat = statSync(path);
    if (!inside(path, realpathSync(root)) || !stat.isFile() || stat.size > MAX_BYTES) return undefined;
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
