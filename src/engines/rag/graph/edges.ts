import { BUILT_IN_MEMBERS } from "./built-in.ts";
import { isOne, isTop, RESOLVED, type Resolver, SURE } from "./resolve.ts";
import type { Place } from "./store.ts";
import type { DefRow, FileInfo, View } from "./view.ts";

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
    if (defs.length > 0) return { defs, confidence };
    if (foreign || module) return NONE;
  }
  const isMember = ref === undefined || ref[0] === "member";
  const all = view
    .named(name)
    .filter(
      (one) => one.file.family === file.family && (isMember ? !isTop(one) || one.kind === "function" : isTop(one)),
    );
  if (all.length === 0) return NONE;
  const members = all.filter((one) => one.owner !== "");
  if (isMember && members.length > 0 && isOne(members) && !BUILT_IN_MEMBERS.has(name))
    return { defs: members, confidence: SURE.member };
  return { defs: all, confidence: Math.max(LEAST, Math.round((SHARED / groups(all)) * 100) / 100) };
}

export function isResolved({ confidence }: Edge): boolean {
  return confidence >= RESOLVED;
}

function groups(defs: readonly DefRow[]): number {
  return new Set(defs.map((one) => `${one.file.id} ${one.symbol}`)).size;
}
