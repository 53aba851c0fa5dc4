import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Language, PackageInfo } from "./types.ts";

/** Asks the interpreter what its standard library has. Three modules are there and need what is not. */
export const STANDARD_LIBRARY = `
import sys
from importlib.util import find_spec
sorted(n for n in sys.stdlib_module_names if not n.startswith("_") and n not in ("lzma", "pty", "tty") and (n in sys.modules or find_spec(n)))
`;

/** Where packages of a language lie, besides the standard library. */
export function packagePaths(language: Language, libraries: string, packages_dir: string | undefined): string[] {
  const own = packages_dir === undefined ? [] : [join(packages_dir, language)];
  return [...(language === "javascript" ? [libraries] : []), ...own].filter(existsSync);
}

/** What can be imported, from what is on disk. */
export function listPackages(language: Language, paths: readonly string[]): PackageInfo[] {
  const found = paths.flatMap((path) =>
    statSync(path).isDirectory() ? readdirSync(path).map((name) => describe(language, path, name)) : [],
  );
  return found.filter((item) => item !== undefined).sort((a, b) => (a.name < b.name ? -1 : 1));
}

function describe(language: Language, path: string, name: string): PackageInfo | undefined {
  if (language === "javascript") {
    if (!/\.m?js$/.test(name)) return undefined;
    const head = readFileSync(join(path, name)).toString("utf8", 0, 200);
    return { name: name.replace(/\.m?js$/, ""), version: /^\/\* \S+ (\S+) \*\//.exec(head)?.[1] ?? null, language };
  }
  const archive = /^(.+?)(?:-(\d[^-]*))?(?:-.*)?\.(?:whl|zip)$/.exec(name);
  if (archive) return { name: archive[1]!, version: archive[2] ?? null, language };
  if (name.endsWith(".py")) return { name: name.slice(0, -3), version: null, language };
  return statSync(join(path, name)).isDirectory() && !/\.dist-info$|^__/.test(name)
    ? { name, version: null, language }
    : undefined;
}
