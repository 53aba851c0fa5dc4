import type { Direction } from "../options.ts";
import type { DefRow } from "./definition.ts";
import { edgeOf, isResolved } from "./edges.ts";
import { RESOLVED, type Resolver } from "./resolve.ts";
import { kindOfUse } from "./store.ts";
import { keyOf } from "./symbol.ts";
import type { UseKind } from "./types.ts";
import type { View } from "./view.ts";
import { type Found, whereUsed } from "./where-used.ts";

/** A step away from a symbol. */
export interface Step {
  readonly symbol: string;
  readonly def: DefRow | undefined;
  readonly path: string;
  readonly line: number;
  readonly kind: UseKind;
  readonly confidence: number;
  readonly hop: number;
}

const MAX_STEPS = 2_000;
/** Symbols that are gone on from, at most. */
const MAX_NODES = 300;

/** What depends on a symbol (upstream, callers) or what it depends on; calls alone for callers and callees. */
export function lineage(
  view: View,
  resolver: Resolver,
  from: readonly DefRow[],
  direction: Direction,
  depth: number,
): Step[] {
  const isUp = direction === "upstream" || direction === "callers";
  const callsOnly = direction === "callers" || direction === "callees";
  const seen = new Set(from.map(keyOf));
  const steps: Step[] = [];
  let nodes = 0;
  let frontier: readonly DefRow[] = from;
  for (let hop = 1; hop <= depth && frontier.length > 0; hop++) {
    const next = new Map<string, DefRow>();
    // All at once in the first hop: overloads are one symbol.
    for (const group of hop === 1 ? [frontier] : frontier.map((def) => [def])) {
      if (++nodes > MAX_NODES || steps.length >= MAX_STEPS) break;
      const reached = isUp ? upwards(view, resolver, group, hop) : downwards(view, resolver, group, hop);
      for (const step of reached) {
        if ((callsOnly && step.kind !== "call") || steps.length >= MAX_STEPS) continue;
        const key = step.def && keyOf(step.def);
        // A circle is closed here; a place is told once.
        if (!isUp && key !== undefined && (seen.has(key) || next.has(key))) continue;
        steps.push(step);
        if (step.def && key !== undefined && !seen.has(key) && step.confidence >= RESOLVED) next.set(key, step.def);
      }
    }
    for (const key of next.keys()) seen.add(key);
    frontier = [...next.values()];
  }
  return steps;
}

function upwards(view: View, resolver: Resolver, defs: readonly DefRow[], hop: number): Step[] {
  return whereUsed(view, resolver, defs, defs[0]!.name).map((found) => stepOf(view, found, hop));
}

export function stepOf(view: View, { file, line, kind, confidence, within }: Found, hop: number): Step {
  const def = within < 0 ? undefined : view.defAt(file, within);
  return { symbol: def?.symbol ?? "", def, path: file.path, line, kind, confidence, hop };
}

/** What stands in a definition and means something else. */
function downwards(view: View, resolver: Resolver, defs: readonly DefRow[], hop: number): Step[] {
  const best = new Map<string, Step>();
  const own = new Set(defs.map(keyOf));
  for (const def of defs) {
    const inside = new Set(
      view
        .defsOf(def.file)
        .filter((one) => one.symbol === def.symbol || one.symbol.startsWith(`${def.symbol}.`))
        .map((one) => one.ord),
    );
    for (const { name, place } of view.usesIn(def.file)) {
      if (!inside.has(place[3])) continue;
      const edge = edgeOf(view, resolver, def.file, name, place);
      for (const target of isResolved(edge) ? edge.defs.slice(0, 1) : edge.defs.slice(0, 3)) {
        const key = keyOf(target);
        if (own.has(key) || target.symbol.startsWith(`${def.symbol}.`)) continue;
        const known = best.get(key);
        const kind = kindOfUse(place);
        if (known && (known.confidence > edge.confidence || (known.confidence === edge.confidence && kind !== "call")))
          continue;
        const { file, line, symbol } = target;
        best.set(key, { symbol, def: target, path: file.path, line, kind, confidence: edge.confidence, hop });
      }
    }
  }
  return [...best.values()].sort(
    (a, b) => b.confidence - a.confidence || (a.path < b.path ? -1 : a.path > b.path ? 1 : a.line - b.line),
  );
}
