import { join, normalize } from "node:path/posix";
import type { FileInfo } from "./definition.ts";
import { beside, ending, firstFile } from "./module-files.ts";
import type { View } from "./view.ts";

const ENDINGS = [".ts", ".tsx", ".d.ts", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs"];
const MAX_EXTENDS = 5;

/** Relative paths, `paths` of the nearest tsconfig, packages of the workspace. */
export function scriptModule(view: View, from: FileInfo, name: string): readonly FileInfo[] {
  if (/^\.{1,2}(\/|$)/.test(name)) return firstFile(view, candidates(beside(from, name)));
  const mapped = byConfig(view, from, name);
  if (mapped.length > 0) return mapped;
  const known = view.once(`package ${name}`, () => byPackage(view, name));
  return known.length > 0 ? known : byFolder(view, from, name);
}

/** A package whose own description is not indexed: a folder of its name with the sources in it. */
function byFolder(view: View, from: FileInfo, name: string): readonly FileInfo[] {
  const [whole = ""] = PACKAGE.exec(name) ?? [];
  const base = whole.slice(whole.indexOf("/") + 1);
  const sub = name.slice(whole.length + 1) || "index";
  return ending(view, from, [`${base}/src/${sub}.ts`, `${base}/src/${sub}/index.ts`]);
}

const PACKAGE = /^(@[^/]+\/)?[^/]+/;

/** What a path without its ending, or with the ending of what it is built to, may be in the sources. */
function candidates(path: string): string[] {
  const bare = path.replace(/\/$/, "");
  const built = /^(.*)\.([mc]?)js(x?)$/.exec(bare);
  const sources = built
    ? [`${built[1]}.${built[2]}ts${built[3]}`, `${built[1]}.tsx`, `${built[1]}.d.${built[2]}ts`]
    : [];
  return [
    ...sources,
    ...(/\.[a-z]+$/i.test(bare) ? [bare] : []),
    ...ENDINGS.map((ending) => bare + ending),
    ...ENDINGS.map((ending) => (bare === "." || bare === "" ? `index${ending}` : `${bare}/index${ending}`)),
  ];
}

function byConfig(view: View, from: FileInfo, name: string): readonly FileInfo[] {
  for (let folder = from.folder; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf("/")))) {
    for (const { paths, base } of view.once(`configs ${folder}`, () => configsIn(view, folder))) {
      for (const target of mapped(paths, name)) {
        const found = firstFile(view, candidates(normalize(join(base, target))));
        if (found.length > 0) return found;
      }
    }
    if (folder === "") return [];
  }
}

interface Config {
  readonly base: string;
  readonly paths: Readonly<Record<string, readonly string[]>>;
}

/** What the configurations of a folder map, with those that they extend. */
function configsIn(view: View, folder: string): Config[] {
  const all = view.manifests();
  const found: Config[] = [];
  const add = (path: string, depth: number): void => {
    const one = all.find((entry) => entry.path === path);
    if (one?.manifest.is !== "tsconfig" || depth > MAX_EXTENDS) return;
    const { base, paths } = one.manifest;
    const at = join(one.folder, base ?? ".");
    found.push({ base: at, paths: base === undefined ? paths : { ...paths, "*": ["*", ...(paths["*"] ?? [])] } });
    const parent = one.manifest.extends;
    if (parent?.startsWith(".")) {
      const target = normalize(join(one.folder, parent));
      add(target.endsWith(".json") ? target : `${target}.json`, depth + 1);
    }
  };
  for (const { path, folder: at, manifest } of all) if (at === folder && manifest.is === "tsconfig") add(path, 0);
  return found;
}

/** What a name is mapped to: by its whole, or by the pattern with the longest beginning. */
function mapped(paths: Config["paths"], name: string): string[] {
  const patterns = Object.keys(paths).sort((a, b) => b.indexOf("*") - a.indexOf("*"));
  for (const pattern of patterns) {
    const star = pattern.indexOf("*");
    if (star < 0) {
      if (pattern === name) return [...paths[pattern]!];
      continue;
    }
    const [head, tail] = [pattern.slice(0, star), pattern.slice(star + 1)];
    if (!name.startsWith(head) || !name.endsWith(tail) || name.length < head.length + tail.length) continue;
    const middle = name.slice(head.length, name.length - tail.length);
    return paths[pattern]!.map((target) => target.replace("*", middle));
  }
  return [];
}

/** `@scope/name/sub` of a package that is part of this tree; its own name too. */
function byPackage(view: View, name: string): readonly FileInfo[] {
  const [whole = ""] = PACKAGE.exec(name) ?? [];
  const sub = name.slice(whole.length + 1);
  for (const { folder, manifest } of view.manifests()) {
    if (manifest.is !== "package" || manifest.name !== whole) continue;
    const targets = sub === "" ? (manifest.entries["."] ?? []) : entriesOf(manifest.entries, `./${sub}`);
    const plain = sub === "" ? ["src/index", "index", "src/main"] : [`src/${sub}`, sub];
    for (const target of [...targets, ...plain])
      for (const path of [target, inSources(target)]) {
        const found = firstFile(view, candidates(normalize(join(folder, path))));
        if (found.length > 0) return found;
      }
  }
  return [];
}

function entriesOf(entries: Readonly<Record<string, readonly string[]>>, key: string): readonly string[] {
  return Object.hasOwn(entries, key) ? entries[key]! : mapped(entries, key);
}

/** Where the source of a built file usually lies. */
function inSources(target: string): string {
  return target
    .replace(/^(\.\/)?(dist|build|lib|out|esm|cjs)\/((esm|cjs|types|commonjs)\/)?/, "src/")
    .replace(/(\.d)?\.[mc]?[jt]s$/, "");
}
