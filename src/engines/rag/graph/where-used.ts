import { edgeOf } from "./edges.ts";
import type { Resolver } from "./resolve.ts";
import { kindOfUse, type Place } from "./store.ts";
import { keyOf } from "./symbol.ts";
import type { UseKind } from "./types.ts";
import type { DefRow, FileInfo, View } from "./view.ts";

/** One place where a symbol is used. */
export interface Found {
  readonly file: FileInfo;
  readonly line: number;
  readonly kind: UseKind;
  readonly confidence: number;
  /** What it stands in; nothing at the top of a file. */
  readonly within: DefRow | undefined;
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
  for (const called of defs.length > 0 ? namesOf(view, resolver, defs) : [name])
    for (const { file, place } of view.uses(called, MAX_USES)) {
      const edge = edgeOf(view, resolver, file, called, place);
      const isMeant = edge.defs.some((one) => wanted.has(keyOf(one)));
      if (defs.length > 0 ? !isMeant : edge.defs.length > 0) continue;
      const one = foundAt(view, file, place, defs.length > 0 ? edge.confidence : UNDEFINED);
      const key = `${file.id} ${one.line} ${one.kind} ${one.within?.ord}`;
      if (!seen.has(key)) found.push(one);
      seen.add(key);
    }
  return found.sort(bySurety);
}

export function bySurety(a: Found, b: Found): number {
  if (a.confidence !== b.confidence) return b.confidence - a.confidence;
  return a.file.path < b.file.path ? -1 : a.file.path > b.file.path ? 1 : a.line - b.line;
}

function foundAt(view: View, file: FileInfo, place: Place, confidence: number): Found {
  const within = place[3] < 0 ? undefined : view.defsOf(file)[place[3]];
  return { file, line: place[0], kind: kindOfUse(place), confidence, within };
}

/** What definitions are called, also by those who get them under another name. */
function namesOf(view: View, resolver: Resolver, defs: readonly DefRow[]): string[] {
  const wanted = new Set(defs.map(keyOf));
  const names = new Set(defs.map((one) => one.name));
  for (const name of names) {
    if (names.size >= MAX_NAMES) break;
    for (const renamed of view.renames(name))
      if (!names.has(renamed.name) && renamed.name !== "*" && means(resolver, renamed, wanted)) names.add(renamed.name);
  }
  return [...names];
}

function means(
  resolver: Resolver,
  { file, name }: { file: FileInfo; name: string },
  wanted: ReadonlySet<string>,
): boolean {
  return resolver.given(file, name).some((one) => wanted.has(keyOf(one)));
}
