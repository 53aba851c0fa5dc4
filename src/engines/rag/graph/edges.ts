import { BUILT_IN_MEMBERS } from "./built-in.ts";
import type { DefRow, FileInfo } from "./definition.ts";
import { isOne, isTop } from "./definition.ts";
import { specOf } from "./languages/index.ts";
import { RESOLVED, type Resolver, SURE } from "./resolve.ts";
import type { Place } from "./store.ts";
import type { View } from "./view.ts";

/** What a use means, and how sure that is. */
export interface Edge {
  readonly defs: readonly DefRow[];
  readonly confidence: number;
}

/** What one of several candidates is worth together with the others. */
const SHARED = 0.4;
const LEAST = 0.05;
const NONE: Edge = { defs: [], confidence: 0 };

/** The definitions that a use means: those it surely means, or all of the name that it could mean. */
export function edgeOf(view: View, resolver: Resolver, file: FileInfo, name: string, place: Place): Edge {
  const ref = place[4];
  if (ref) {
    const { defs, foreign, module, confidence } = resolver.meaning(file, ref);
    if (defs.length > 0) return { defs: withTwins(view, defs), confidence };
    const own = ref[0] === "free" ? inherited(view, resolver, file, ref[1], place) : [];
    if (own.length > 0) return { defs: own, confidence: SURE.self };
    if (foreign || module) return NONE;
  }
  const isMember = ref === undefined || ref[0] === "member";
  return view.once(`any ${file.family} ${isMember} ${name}`, () => anyOf(view, file.family, name, isMember));
}

/** All that a name could mean: the one member that has it, or everything. */
function anyOf(view: View, family: string, name: string, isMember: boolean): Edge {
  const all = view
    .named(name)
    .filter((one) => one.file.family === family && (isMember ? !isTop(one) || one.kind === "function" : isTop(one)));
  if (all.length === 0) return NONE;
  const members = all.filter((one) => one.kind === "method" || one.kind === "field");
  if (isMember && members.length > 0 && isOne(members) && !BUILT_IN_MEMBERS.has(name))
    return { defs: members, confidence: SURE.member };
  return { defs: all, confidence: Math.max(LEAST, Math.round((SHARED / groups(all)) * 100) / 100) };
}

/** A member of the class that a use stands in, where members are called without naming their object. */
function inherited(view: View, resolver: Resolver, file: FileInfo, name: string, place: Place): readonly DefRow[] {
  if (place[3] < 0 || specOf(file.language)?.implicit_self !== true) return [];
  let owner = view.defAt(file, place[3])?.owner ?? "";
  for (; owner !== ""; owner = owner.slice(0, Math.max(0, owner.lastIndexOf("."))))
    for (const one of resolver.classes(file, owner)) {
      const found = resolver.members(one, name);
      if (found.length > 0) return found;
    }
  return [];
}

/** In C a function is declared in one file and defined in another: both are it. */
function withTwins(view: View, defs: readonly DefRow[]): readonly DefRow[] {
  if (defs[0]!.file.family !== "c" || (defs[0]!.kind !== "function" && defs[0]!.kind !== "method")) return defs;
  const [{ name, owner }] = defs as [DefRow];
  return view.once(`twins ${name} ${owner}`, () => twinsOf(view, defs));
}

function twinsOf(view: View, defs: readonly DefRow[]): readonly DefRow[] {
  const known = new Set(defs.map((one) => `${one.owner} ${one.kind}`));
  const twins = view
    .named(defs[0]!.name)
    .filter((one) => one.file.family === "c" && known.has(`${one.owner} ${one.kind}`));
  return [...new Set([...defs, ...twins])];
}

export function isResolved({ confidence }: Edge): boolean {
  return confidence >= RESOLVED;
}

function groups(defs: readonly DefRow[]): number {
  return new Set(defs.map((one) => `${one.file.id} ${one.symbol}`)).size;
}
