import type { DefRow, FileInfo } from "./definition.ts";
import { type Edge, edgeOf } from "./edges.ts";
import type { Resolver } from "./resolve.ts";
import { keyOfDefault, kindOfUse } from "./store.ts";
import { keyOf } from "./symbol.ts";
import type { UseKind } from "./types.ts";
import type { View } from "./view.ts";

/** One place where a symbol is used. */
export interface Found {
  readonly file: FileInfo;
  readonly line: number;
  readonly kind: UseKind;
  readonly confidence: number;
  /** Which definition of its file it stands in; -1 at the top. */
  readonly within: number;
}

/** Uses of one name that are looked at, at most. */
const MAX_USES = 20_000;
const MAX_NAMES = 20;
/** A use of a name that nothing here defines. */
const UNDEFINED = 0.3;

/** Every use of these definitions: what surely means them first, what only may mean them last. */
export function whereUsed(view: View, resolver: Resolver, defs: readonly DefRow[], name: string): Found[] {
  const wanted = new Set(defs.map(keyOf));
  const found: Found[] = [];
  const seen = new Set<string>();
  const judged = new Map<Edge, boolean>();
  // Uses that could mean anything of a name share one edge: it is judged once.
  const isMeantBy = (edge: Edge) => {
    let isMeant = judged.get(edge);
    if (isMeant === undefined) judged.set(edge, (isMeant = edge.defs.some((one) => wanted.has(keyOf(one)))));
    return isMeant;
  };
  for (const called of defs.length > 0 ? namesOf(view, resolver, defs) : [name])
    for (const { file, place, edge } of edgesOf(view, resolver, called)) {
      if (defs.length > 0 ? !isMeantBy(edge) : edge.defs.length > 0) continue;
      const confidence = defs.length > 0 ? edge.confidence : UNDEFINED;
      const one = { file, line: place[0], kind: kindOfUse(place), confidence, within: place[3] };
      const key = `${file.id} ${one.line} ${one.kind} ${one.within}`;
      if (!seen.has(key)) found.push(one);
      seen.add(key);
    }
  return found.sort(bySurety);
}

/** What each use of a name means. Pages of one answer, and symbols of one name, have it in common. */
function edgesOf(view: View, resolver: Resolver, called: string) {
  const name = called.startsWith("default:") ? "default" : called;
  return view.lately(`edges ${called}`, () =>
    view.uses(called, MAX_USES).map(({ file, place }) => ({
      file,
      place,
      edge: edgeOf(view, resolver, file, name, place),
    })),
  );
}

export function bySurety(a: Found, b: Found): number {
  if (a.confidence !== b.confidence) return b.confidence - a.confidence;
  return a.file.path < b.file.path ? -1 : a.file.path > b.file.path ? 1 : a.line - b.line;
}

/** What definitions are called, also by those who get them under another name. */
function namesOf(view: View, resolver: Resolver, defs: readonly DefRow[]): string[] {
  const wanted = new Set(defs.map(keyOf));
  const names = new Set(defs.map((one) => one.name));
  const keys = new Set<string>();
  for (const def of defs) if (def.name === "default") for (const key of mainKeys(view, def.file)) keys.add(key);
  for (const name of names) {
    if (names.size >= MAX_NAMES) break;
    for (const renamed of view.renames(name)) {
      if (renamed.name === "*" || !resolver.given(renamed.file, renamed.name).some((one) => wanted.has(keyOf(one))))
        continue;
      if (renamed.name === "default") for (const key of mainKeys(view, renamed.file)) keys.add(key);
      else names.add(renamed.name);
    }
  }
  return [...names, ...keys];
}

/** What the module of a file may be called by those who import its main export. */
function mainKeys(view: View, { path, folder }: FileInfo): string[] {
  const packages = view.manifests().filter((one) => one.manifest.is === "package" && within(folder, one.folder));
  const names = packages.flatMap(({ manifest }) => (manifest.is === "package" ? [manifest.name] : []));
  return [path, ".", ...names].map(keyOfDefault);
}

function within(folder: string, outer: string): boolean {
  return outer === "" || folder === outer || folder.startsWith(`${outer}/`);
}
