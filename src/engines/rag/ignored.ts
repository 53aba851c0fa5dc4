import { lstatSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Ignore } from "ignore";

/** Which paths of a tree are left out, as its ignore files say. Folders are asked before what is in them. */
export interface Rules {
  /** `folder` is relative to the root; "" is the root. Reads its ignore files once. */
  ignores(folder: string, name: string, isFolder: boolean): boolean;
}

const FILES = [".gitignore", ".ragignore"];
const MAX_RULES = 1024 ** 2;

export async function createRules(root: string, exclude: readonly string[]): Promise<Rules> {
  const ignore = (await import("ignore")).default;
  const own = exclude.length > 0 ? ignore().add([...exclude]) : undefined;
  const levels = new Map<string, Ignore | undefined>();

  function levelOf(folder: string): Ignore | undefined {
    if (levels.has(folder)) return levels.get(folder);
    const names = folder === "" ? [".git/info/exclude", ...FILES] : FILES;
    const texts = names.map((name) => rulesIn(join(root, folder, name))).filter((text) => text !== undefined);
    const level = texts.length > 0 ? ignore({ allowRelativePaths: true }).add(texts.join("\n")) : undefined;
    levels.set(folder, level);
    return level;
  }

  return {
    ignores(folder, name, isFolder) {
      const path = folder === "" ? name : `${folder}/${name}`;
      const end = isFolder ? "/" : "";
      if (own?.ignores(path + end)) return true;
      // The nearest ignore file that speaks of a path decides.
      for (let base = folder; ; base = base.slice(0, Math.max(0, base.lastIndexOf("/")))) {
        const below = base === "" ? path : path.slice(base.length + 1);
        const said = levelOf(base)?.test(below + end);
        if (said?.ignored) return true;
        if (said?.unignored || base === "") return false;
      }
    },
  };
}

/** A link is not followed: it could lead out of the tree. */
function rulesIn(file: string): string | undefined {
  try {
    const stat = lstatSync(file);
    return stat.isFile() && stat.size <= MAX_RULES ? readFileSync(file, "utf8") : undefined;
  } catch {
    return undefined;
  }
}
