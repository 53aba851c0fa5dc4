import type { Db } from "../../../base/db.ts";
import type { Manifest } from "./manifest.ts";
import { DEF_KINDS, type FileFacts, type Ref, USE_KINDS, type UseKind } from "./types.ts";

/** A use as it is stored: line, column, kind, definition around it, reference. */
export type Place = readonly [number, number, number, number, Ref?];

/** Inside a transaction: what the graph knows of a file that was just stored under this number. */
export function putGraph(db: Db, file: number, path: string, facts: FileFacts | undefined, manifest?: Manifest): void {
  db.run("INSERT INTO stems (stem, file) VALUES (?, ?)", stemOf(path), file);
  if (manifest) db.run("INSERT INTO manifests (file, facts) VALUES (?, ?)", file, JSON.stringify(manifest));
  if (!facts) return;
  db.run(
    "INSERT INTO links (file, package, imports, exports) VALUES (?, ?, ?, ?)",
    ...[file, facts.package, JSON.stringify(facts.imports), JSON.stringify(facts.exports)],
  );
  for (const [ord, { name, symbol, kind, line, last, type }] of facts.defs.entries())
    db.run(
      "INSERT INTO defs (file, ord, name, symbol, kind, line, last, type) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
      ...[file, ord, name, symbol, DEF_KINDS.indexOf(kind), line, last, type ? JSON.stringify(type) : null],
    );
  for (const [name, places] of byName(facts))
    db.run("INSERT INTO uses (file, name, places) VALUES (?, ?, ?)", file, name, JSON.stringify(places));
  for (const { child, base } of facts.bases)
    db.run("INSERT INTO bases (file, child, base) VALUES (?, ?, ?)", file, child, JSON.stringify(base));
  for (const { name, source } of facts.exports)
    if (name !== source) db.run("INSERT INTO renames (file, source, name) VALUES (?, ?, ?)", file, source, name);
}

export function removeGraph(db: Db, file: number, path: string): void {
  for (const table of ["links", "manifests", "defs", "uses", "bases", "renames"])
    db.run(`DELETE FROM ${table} WHERE file = ?`, file);
  db.run("DELETE FROM stems WHERE stem = ? AND file = ?", stemOf(path), file);
}

/** What a module of this file would be called: its name without endings, or its folder's where the name says nothing. */
export function stemOf(path: string): string {
  const parts = path.split("/");
  const name = parts.pop()!.replace(/(\.d)?\.[^.]+$/, "");
  return /^(index|__init__|mod|lib|main)$/.test(name) && parts.length > 0 ? parts.at(-1)! : name;
}

/**
 * What a use is stored under. A main export has no name of its own, and half of all files may have one: it goes by what its module
 * is called, so that a question about one of them does not look at all.
 */
export function keyOfDefault(module: string): string {
  const parts = module.split("/");
  const last = parts.pop()!.replace(/(\.d)?\.[mc]?[jt]sx?$/, "");
  const name = last === "index" ? (parts.at(-1) ?? "") : last;
  return `default:${/^\.*$/.test(name) ? "" : name}`;
}

export function kindOfUse(place: Place): UseKind {
  return USE_KINDS[place[2]]!;
}

function byName({ uses, imports }: FileFacts): Map<string, Place[]> {
  const found = new Map<string, Place[]>();
  for (const { name, line, column, kind, within, ref } of uses) {
    const at = [line, column, USE_KINDS.indexOf(kind), within] as const;
    const key = name === "default" && ref?.[0] === "import" ? keyOfDefault(imports[ref[1]]!.module) : name;
    const place: Place = ref ? [...at, ref] : at;
    const list = found.get(key);
    if (list) list.push(place);
    else found.set(key, [place]);
  }
  return found;
}
