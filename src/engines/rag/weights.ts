import type { Kind } from "./kind.ts";
import type { Scope } from "./options.ts";

/** One set for all languages, measured on histories of three repositories (docs/rag.md has what each is worth). */
export interface Weights {
  /** How much a term counts by where it stands. */
  readonly symbol: number;
  readonly file: number;
  readonly folder: number;
  readonly body: number;
  /** What each further chunk of a file adds, as a share of the one before. */
  readonly tail: number;
  /** What it is worth that a file has all the words, not only some. */
  readonly coverage: number;
  /** A definition of an identifier that the query names. */
  readonly exact: number;
  /** Words that describe a change and not a place. */
  readonly verbs: number;
  /** Whether identifiers are looked at as a whole too. */
  readonly wholes: number;
  /** Neighbouring words that are one name in code: `status code` and `statusCode`. */
  readonly pairs: number;
  /** Words before a colon at the beginning say where: `router: …`, `fix(router): …`. */
  readonly place: number;
  readonly prior: Readonly<Record<Kind, number>>;
}

export const WEIGHTS: Weights = {
  symbol: 3,
  file: 10,
  folder: 10,
  body: 1,
  tail: 0.42,
  coverage: 0.3,
  exact: 0.3,
  verbs: 0.1,
  wholes: 3,
  pairs: 0.6,
  place: 2.5,
  prior: { source: 1, test: 0.35, docs: 0.35, config: 0.4, generated: 0.3, example: 0.5, history: 0.2, data: 0.4 },
};

/** The prior of a kind of file, by what was asked for. */
export function priorOf(weights: Weights, kind: Kind, scope: Scope, wanted: ReadonlySet<Kind>): number {
  const isText = kind === "docs" || kind === "history";
  if (scope === "docs") return isText ? (kind === "docs" ? 1 : 0.5) : 0;
  if (wanted.has(kind) || (scope === "both" && kind === "docs")) return Math.max(weights.prior[kind], 0.9);
  return weights.prior[kind];
}
