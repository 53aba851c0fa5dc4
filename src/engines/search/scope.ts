import { existsSync, lstatSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { inside } from "../../base/path/index.ts";
import { compileGlob, type Glob } from "./glob.ts";
import type { SearchOptions } from "./options.ts";

const MAX_RULES = 1024 ** 2;

/** Which globs to leave out below a folder, as ripgrep can be told, and what must be filtered afterwards. */
export interface Exclusions {
  readonly globs: readonly string[];
  readonly in_repository: boolean;
  hides(path: string): boolean;
}

/** Globs with a slash are anchored at the root; below it ripgrep would anchor them elsewhere, so they are judged here. */
export function exclusions(options: SearchOptions, root: string, folder: string, state_dir: string): Exclusions {
  const isRoot = folder === root;
  const anchored = (glob: string) => glob.replace(/\/$/, "").includes("/");
  const globs = options.ignore.filter((glob) => isRoot || !anchored(glob)).map((glob) => glob.replace(/^!/, "\\!"));
  if (state_dir !== folder && inside(state_dir, folder)) globs.push(literal(state_dir.slice(folder.length)));
  const later = isRoot ? [] : options.ignore.filter(anchored).flatMap(everythingUnder);
  const below = isRoot ? "" : `${relative(root, folder)}/`;
  const in_repository = isInRepository(folder);
  const above = in_repository ? () => false : ignoredAbove(root, folder);
  return { globs, in_repository, hides: (path) => later.some((glob) => glob.matches(below + path)) || above(path) };
}

function everythingUnder(glob: string): Glob[] {
  return [glob, `${glob}/**`].map((one) => compileGlob(one, { nocase: false }));
}

/** Inside a git repository ripgrep finds the ignore files above by itself, and knows where the repository ends. */
function isInRepository(folder: string): boolean {
  if (existsSync(join(folder, ".git"))) return true;
  return folder !== dirname(folder) && isInRepository(dirname(folder));
}

/** Elsewhere it would go on up to, say, a home folder: there the ignore files from the root down to the folder are applied here. */
function ignoredAbove(root: string, folder: string): (path: string) => boolean {
  const levels: { readonly below: string; readonly rules: readonly Rule[] }[] = [];
  for (let at = folder; at !== root && at !== dirname(at); ) {
    at = dirname(at);
    const below = `${relative(at, folder)}/`;
    // A rule that hides the folder itself was overruled by whoever asked for it.
    const rules = rulesOf(join(at, ".gitignore")).filter((rule) => !rule.matches(`${below}\u0001`));
    if (rules.length > 0) levels.push({ below, rules });
  }
  // What the folder's own file speaks of was judged by ripgrep, and those above have no say in it.
  const own = levels.length > 0 ? rulesOf(join(folder, ".gitignore")) : [];
  return (path) => {
    if (own.some((rule) => rule.matches(path))) return false;
    for (const { below, rules } of levels) {
      const last = rules.findLast((rule) => rule.matches(below + path));
      if (last) return !last.lifts;
    }
    return false;
  };
}

interface Rule {
  readonly lifts: boolean;
  matches(path: string): boolean;
}

function rulesOf(file: string): Rule[] {
  try {
    const stat = lstatSync(file);
    if (!stat.isFile() || stat.size > MAX_RULES) return [];
    return readFileSync(file, "utf8")
      .split(/\r?\n/)
      .filter((line) => /^[^#\s]/.test(line))
      .map(ruleOf);
  } catch {
    return [];
  }
}

/** One line of an ignore file. A rule without a slash holds at any depth; one that ends in a slash is for folders. */
function ruleOf(line: string): Rule {
  const lifts = line.startsWith("!");
  const text = (lifts ? line.slice(1) : line).trimEnd().replace(/[{}]/g, "\\$&");
  const name = text.replace(/^\/|\/$/g, "");
  const glob = text.replace(/\/$/, "").includes("/") ? name : `**/${name}`;
  const globs = text.endsWith("/") ? [`${glob}/**`] : [glob, `${glob}/**`];
  const compiled = globs.map((one) => compileGlob(one, { nocase: false }));
  return { lifts, matches: (path) => compiled.some((one) => one.matches(path)) };
}

function literal(path: string): string {
  return path.replace(/[\\*?[\]{}!]/g, "\\$&");
}
