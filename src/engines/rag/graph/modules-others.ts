import type { FileInfo } from "./definition.ts";
import { beside, ending, firstFile } from "./module-files.ts";
import type { View } from "./view.ts";

/** `..a.b` from its own folder upwards; `a.b` from the root, or from wherever a package of that name lies. */
export function pythonModule(view: View, from: FileInfo, name: string): readonly FileInfo[] {
  const dots = /^\.*/.exec(name)![0].length;
  const path = name.slice(dots).replaceAll(".", "/");
  const forms = (base: string) =>
    base === "" ? ["__init__.py"] : [`${base}.py`, `${base}/__init__.py`, `${base}.pyi`];
  if (dots === 0)
    return path === ""
      ? []
      : ([firstFile(view, forms(path)), ending(view, from, forms(path))].find((one) => one.length > 0) ?? []);
  let folder = from.folder;
  for (let up = 1; up < dots; up++) folder = folder.slice(0, Math.max(0, folder.lastIndexOf("/")));
  const base = [folder, path].filter((part) => part !== "").join("/");
  return firstFile(view, path === "" ? [`${folder === "" ? "" : `${folder}/`}__init__.py`] : forms(base));
}

/** A folder below the module that go.mod names. */
export function goPackage(view: View, _from: FileInfo, name: string): readonly FileInfo[] {
  return view.once(`go ${name}`, () => goFolder(view, name));
}

function goFolder(view: View, name: string): readonly FileInfo[] {
  for (const { folder, manifest } of view.manifests()) {
    if (manifest.is !== "go" || (name !== manifest.module && !name.startsWith(`${manifest.module}/`))) continue;
    const below = name.slice(manifest.module.length + 1);
    const files = view.inFolder([folder, below].filter((part) => part !== "").join("/"));
    const found = files.filter(({ family, path }) => family === "go" && !path.endsWith("_test.go"));
    if (found.length > 0) return found;
  }
  return [];
}

/** `crate::a::b`, `super::a`, `self::a`, or a crate of this tree. */
export function rustModule(view: View, from: FileInfo, name: string): readonly FileInfo[] {
  const parts = name.split("::");
  const first = parts.shift()!;
  const isRoot = /(^|\/)(mod|lib|main)\.rs$/.test(from.path);
  const own = isRoot ? from.folder : from.path.replace(/\.rs$/, "");
  const up = (path: string) => path.slice(0, Math.max(0, path.lastIndexOf("/")));
  const inner = view.once(`crate ${first}`, () => crateNamed(view, first));
  let base: string | undefined;
  if (first === "crate") base = view.once(`sources ${from.folder}`, () => sourcesOf(view, from));
  else if (first === "self") base = own;
  else if (first === "super") {
    base = up(own);
    while (parts[0] === "super") {
      parts.shift();
      base = up(base);
    }
  } else {
    // A module of this file is called by its name alone.
    if (inner === undefined) parts.unshift(first);
    base = inner ?? own;
  }
  if (base === undefined) return [];
  const path = [base, ...parts].filter((part) => part !== "").join("/");
  return firstFile(view, [`${path}.rs`, `${path}/mod.rs`, `${path}/lib.rs`, `${path}/main.rs`]);
}

function sourcesOf(view: View, from: FileInfo): string | undefined {
  const crates = view
    .manifests()
    .filter(({ folder, manifest }) => manifest.is === "cargo" && within(from.path, folder));
  const nearestCrate = crates.sort((a, b) => b.folder.length - a.folder.length)[0];
  return nearestCrate ? [nearestCrate.folder, "src"].filter((part) => part !== "").join("/") : undefined;
}

function crateNamed(view: View, name: string): string | undefined {
  const crate = view
    .manifests()
    .find(({ manifest }) => manifest.is === "cargo" && manifest.name.replaceAll("-", "_") === name);
  return crate && [crate.folder, "src"].filter((part) => part !== "").join("/");
}

function within(path: string, folder: string): boolean {
  return folder === "" || path.startsWith(`${folder}/`);
}

/** Beside the file, from the root, or wherever a file lies whose path ends so. */
export function sourceInclude(view: View, from: FileInfo, name: string): readonly FileInfo[] {
  const path = from.family === "ruby" && !name.endsWith(".rb") ? `${name}.rb` : name;
  const found = firstFile(view, [beside(from, path), path, `lib/${path}`]);
  return found.length > 0 ? found : ending(view, from, [path.replace(/^(\.\.?\/)+/, "")]);
}

/** Every file that says it belongs to the package; or the package of the class that the last part names. */
export function packageMembers(view: View, from: FileInfo, name: string): readonly FileInfo[] {
  return view.inPackage(name, from.family);
}
