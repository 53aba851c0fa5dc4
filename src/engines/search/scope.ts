import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { inside, type Pinned } from "../../base/path/index.ts";
import { compileGlob } from "./glob.ts";

/** Which globs to leave out below a folder, as ripgrep can be told, and what must be filtered afterwards. */
export interface Exclusions {
  readonly globs: readonly string[];
  hides(path: string): boolean;
}

/** Globs with a slash are anchored at the root; below it ripgrep would anchor them elsewhere, so they are judged here. */
export function exclusions(
  ignore: readonly string[],
  root: string,
  folder: string,
  state_dir: string | undefined,
): Exclusions {
  const isRoot = folder === root;
  const anchored = (glob: string) => glob.replace(/\/$/, "").includes("/");
  const globs = ignore.filter((glob) => isRoot || !anchored(glob)).map((glob) => glob.replace(/^!/, "\\!"));
  if (state_dir !== undefined && state_dir !== folder && inside(state_dir, folder))
    globs.push(literal(state_dir.slice(folder.length)));
  const later = isRoot
    ? []
    : ignore.filter(anchored).flatMap((glob) => [glob, `${glob}/**`].map((one) => compileGlob(one, { nocase: false })));
  const below = isRoot ? "" : `${folder.slice(root === "/" ? 1 : root.length + 1)}/`;
  return { globs, hides: (path) => later.some((glob) => glob.matches(below + path)) };
}

/** Ignore files above the searched folder count inside a git repository, or inside the root; never those of, say, a home folder. */
export function parentsCount(folder: Pinned, root: string): boolean {
  if (folder.real !== root) return true;
  for (let at = folder.real; ; at = dirname(at)) {
    if (existsSync(`${at}/.git`)) return true;
    if (at === dirname(at)) return false;
  }
}

function literal(path: string): string {
  return path.replace(/[\\*?[\]{}!]/g, "\\$&");
}
