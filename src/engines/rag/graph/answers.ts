import { Fault } from "../../../base/fault.ts";
import { nearest } from "../../../base/text.ts";
import type { Direction } from "../options.ts";
import { lineage, type Step, stepOf } from "./lineage.ts";
import { RESOLVED } from "./resolve.ts";
import type { Scene } from "./scene.ts";
import { findSymbol, keyOf, type Named } from "./symbol.ts";
import type { UseKind } from "./types.ts";
import { type Found, whereUsed } from "./where-used.ts";
import { whereWritten } from "./words.ts";

export interface GraphItem {
  /** What uses it, or what it uses. */
  readonly symbol: string;
  readonly path: string;
  readonly line: number;
  readonly kind: UseKind;
  readonly confidence: number;
  readonly hop: number;
}

export interface GraphAnswer {
  readonly symbol: string;
  readonly total: number;
  readonly items: readonly GraphItem[];
  readonly cursor?: string;
  /** What the caller should know: which definitions are meant, or that these are words and no references. */
  readonly note?: string;
}

export interface PageRequest {
  readonly symbol: string;
  readonly limit: number;
  readonly cursor?: string | undefined;
}

const SHOWN_DEFS = 4;

export function answerUses(scene: Scene, request: PageRequest): GraphAnswer {
  const { view, resolver } = scene;
  const named = findSymbol(view, request.symbol);
  const found = whereUsed(view, resolver, named.defs, named.name);
  if (found.length > 0) {
    const isSure = named.defs.length === 0 || found[0]!.confidence >= RESOLVED;
    const unsure = isSure ? undefined : "No use is sure: these may mean another definition of the same name.";
    return page(scene, request, found, stepAt(scene), joined(definedAt(scene, named), unsure));
  }
  const words = whereWritten(scene, named);
  const note = joined(definedAt(scene, named), wordNote(scene, named, words));
  return page(scene, request, words.places, stepAt(scene), note);
}

export function answerLineage(
  scene: Scene,
  request: PageRequest & { direction: Direction; depth: number },
): GraphAnswer {
  const { view, resolver } = scene;
  const named = findSymbol(view, request.symbol);
  const steps = named.defs.length === 0 ? [] : lineage(view, resolver, named.defs, request.direction, request.depth);
  if (steps.length > 0) return page(scene, request, steps, (step) => step, definedAt(scene, named));
  if (named.defs.length > 0) {
    const nothing = `Nothing is known ${/up|callers/.test(request.direction) ? "to use it" : "that it uses"}${/call/.test(request.direction) ? " by a call" : ""}.`;
    return page(scene, request, [], stepAt(scene), joined(definedAt(scene, named), nothing));
  }
  const words = whereWritten(scene, named);
  return page(scene, request, words.places, stepAt(scene), wordNote(scene, named, words));
}

/** What a use stands in is looked up for the page that is told, not for all. */
function stepAt({ view }: Scene): (found: Found) => Step {
  return (found) => stepOf(view, found, 1);
}

function wordNote(scene: Scene, { name, defs }: Named, { places, isPart }: ReturnType<typeof whereWritten>): string {
  const none = defs.length > 0 ? "No use of it is known" : `No definition of ${name} is indexed`;
  const some = isPart ? "some of the places" : "places";
  const words = places.length > 0 ? `these are ${some} where the word stands` : "and the word stands nowhere";
  const close = defs.length > 0 ? undefined : nearest(name, scene.names(name));
  return `${none}; ${words}.${close === undefined ? "" : ` Did you mean ${close}?`}`;
}

/** Which definitions an answer speaks of, when there are several or the caller cannot know. */
function definedAt({ shown }: Scene, { defs }: Named): string | undefined {
  const places = [...new Map(defs.map((one) => [keyOf(one), one])).values()];
  if (places.length < 2) return undefined;
  const list = places.slice(0, SHOWN_DEFS).map((one) => `${one.symbol} ${shown(one.file.path)}:${one.line}`);
  const more = places.length > SHOWN_DEFS ? `, and ${places.length - SHOWN_DEFS} more` : "";
  return `${places.length} definitions: ${list.join(", ")}${more}. Name one as path:symbol to narrow.`;
}

function joined(...parts: readonly (string | undefined)[]): string | undefined {
  const text = parts.filter((part) => part !== undefined).join(" ");
  return text === "" ? undefined : text;
}

function page<T>(
  { shown, coverage }: Scene,
  request: PageRequest,
  all: readonly T[],
  toStep: (one: T) => Step,
  said: string | undefined,
): GraphAnswer {
  const from = request.cursor === undefined ? 0 : Number(request.cursor);
  if (!Number.isInteger(from) || from < 0)
    throw new Fault("invalid_args", "The cursor is not one of ours.", { hint: "Pass it back as it was given." });
  const note = joined(
    said,
    coverage() < 1 ? `${Math.round(coverage() * 100)} % of the files are indexed so far.` : undefined,
  );
  const to = from + request.limit;
  return {
    symbol: request.symbol,
    total: all.length,
    items: all.slice(from, to).map((one) => itemOf(toStep(one), shown)),
    ...(to < all.length ? { cursor: String(to) } : {}),
    ...(note === undefined ? {} : { note }),
  };
}

export function itemOf(
  { symbol, path, line, kind, confidence, hop }: Step,
  shown: (path: string) => string,
): GraphItem {
  return { symbol: symbol === "" ? "(top level)" : symbol, path: shown(path), line, kind, confidence, hop };
}
