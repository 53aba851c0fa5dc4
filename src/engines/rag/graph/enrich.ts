import type { DefRow, FileInfo } from "./definition.ts";
import { type Description, describe } from "./describe.ts";
import type { Step } from "./lineage.ts";
import { calleesOf, callersOf, testsOf } from "./neighbours.ts";
import type { Scene } from "./scene.ts";

/** What a snippet is, beside its text. */
export interface Features {
  readonly kind: string;
  readonly language: string;
  readonly lines: number;
  readonly callers: number;
  readonly callees: number;
  readonly tests: number;
}

export interface Enrichment {
  /** `caller Router.match src/router.ts:12`, nearest first. */
  readonly neighbors: readonly string[];
  readonly summary: string;
  readonly features?: Features;
}

const MAX_NEIGHBORS = 6;
const MAX_NAMED = 3;

/** What stands around a piece of code, and what it is in a sentence or two. */
export function enrich(
  scene: Scene,
  place: { readonly file: FileInfo; readonly first: number; readonly last: number },
  options: { readonly depth: number; readonly isGraph: boolean; readonly wants_features: boolean },
): Enrichment {
  const { view, shown } = scene;
  const defs = definedIn(view.defsOf(place.file), place.first, place.last);
  const lines = scene.lines(place.file.path) ?? [];
  const said = defs[0] ? describe(defs[0], lines) : undefined;
  if (!options.isGraph && !options.wants_features) return { neighbors: [], summary: summaryOf(defs[0], said) };
  const same = defs.filter((one) => one.symbol === defs[0]?.symbol);
  const up = defs.length === 0 ? [] : callersOf(scene, same, options.depth);
  const down = defs.length === 0 ? [] : calleesOf(scene, same, options.depth);
  const tests = defs.length === 0 ? [] : testsOf(scene, same);
  const line = (what: string) => (step: Step) =>
    `${what} ${step.symbol === "" ? "(top level)" : step.symbol} ${shown(step.path)}:${step.line}${step.hop > 1 ? ` (${step.hop} away)` : ""}`;
  const near = interleaved(up.map(line("caller")), down.map(line("callee")));
  return {
    neighbors: options.isGraph ? near.slice(0, MAX_NEIGHBORS * options.depth) : [],
    summary: summaryOf(defs[0], said, options.isGraph ? { up, down, tests } : undefined),
    ...(options.wants_features
      ? {
          features: {
            kind: place.file.kind,
            language: place.file.language,
            lines: place.last - place.first + 1,
            callers: up.length,
            callees: down.length,
            tests: tests.length,
          },
        }
      : {}),
  };
}

/** Definitions that begin in a range; else the one around it. */
export function definedIn(defs: readonly DefRow[], first: number, last: number): readonly DefRow[] {
  const inside = defs.filter((one) => one.line >= first && one.line <= last);
  if (inside.length > 0) return inside;
  const around = defs.filter((one) => one.line <= first && one.last >= last);
  return around.slice(-1);
}

function interleaved<T>(a: readonly T[], b: readonly T[]): T[] {
  const all: T[] = [];
  for (let index = 0; index < Math.max(a.length, b.length); index++) {
    if (index < a.length) all.push(a[index]!);
    if (index < b.length) all.push(b[index]!);
  }
  return all;
}

interface Around {
  readonly up: readonly Step[];
  readonly down: readonly Step[];
  readonly tests: readonly Step[];
}

/** From the signature, the comment and the graph: what it is, who needs it, what it needs, what watches it. */
function summaryOf(def: DefRow | undefined, said: Description | undefined, around?: Around): string {
  if (!def || !said) return "";
  const name = said.signature === "" ? def.symbol : said.signature;
  const parts = [name.includes(def.kind) ? name : `${def.kind} ${name}`];
  if (said.doc !== "") parts.push(firstSentence(said.doc));
  if (around) {
    if (around.up.length > 0) parts.push(`Used by ${named(around.up)}`);
    if (around.down.length > 0) parts.push(`Uses ${named(around.down)}`);
    parts.push(
      around.tests.length > 0
        ? `Tested in ${[...new Set(around.tests.map((one) => one.path))].slice(0, 2).join(", ")}`
        : "No test reaches it",
    );
  }
  return `${parts.map((part) => part.replace(/[.\s]+$/, "")).join(". ")}.`;
}

function named(steps: readonly Step[]): string {
  const names = [...new Set(steps.map((one) => (one.symbol === "" ? one.path : one.symbol)))];
  const more = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : "";
  return names.slice(0, MAX_NAMED).join(", ") + more;
}

function firstSentence(text: string): string {
  return (/^.*?[.!?](?=\s|$)/.exec(text)?.[0] ?? text).slice(0, 200);
}
