import type { Kind } from "./kind.ts";
import type { Splitter } from "./terms.ts";
import { stem } from "./terms.ts";
import type { Weights } from "./weights.ts";

/** What a text asks for. */
export interface Query {
  readonly terms: readonly QueryTerm[];
  /** Words that look like names in code, as written. */
  readonly identifiers: readonly string[];
  /** Kinds of file that the words themselves speak of. */
  readonly kinds: ReadonlySet<Kind>;
}

export interface QueryTerm {
  readonly term: string;
  readonly weight: number;
}

const MAX_CHARS = 20_000;
const WORD = /[\p{L}\p{N}_$]+/gu;

const set = (text: string) => new Set(text.split(" "));
const STOP = set(
  "a an and are as at be been but by can could did do does for from had has have how i if in into is it its may me my no not of on or our out should so than that the their them then there these they this to too us was we were what when where which who why will with would you your about after all also any because before being both each even just more most much only other over same some still such very via via while yet",
);
/** What people do to code. Rare in code itself, so by rarity alone they would weigh far too much. */
const VERBS = new Set(
  "fix fixes fixed add added adds adding remove removed removes support supported update updated updates improve improved change changed changes make makes made use used uses using refactor allow allows allowed implement implemented introduce ensure prevent avoid correct handle bug issue feature feat chore perf docs doc style ci test tests typo cleanup clean rename move new old better simplify enable disable missing wrong broken properly correctly instead need needs want work works working deprecate drop bump minor major decide decided find get set let"
    .split(" ")
    .map(stem),
);
const KIND_WORDS: readonly (readonly [Kind, RegExp])[] = [
  ["test", /\b(tests?|testing|specs?|unit tests?|fixtures?)\b/i],
  ["docs", /\b(docs?|documentation|readme|guide|tutorial)\b/i],
  ["history", /\b(changelog|release notes|news|authors|contributors)\b/i],
  ["config", /\b(config file|workflow|dockerfile|makefile|package\.json|tsconfig|pyproject|ci|eslint|lint)\b/i],
  ["example", /\bexamples?\b/i],
];

export function parseQuery(text: string, splitter: Splitter, weights: Weights): Query {
  const cut = text.slice(0, MAX_CHARS);
  const place = /^[\w-]*\(?([\w ,./-]{2,40})\)?!?:/.exec(cut)?.[0].length ?? 0;
  const found = new Map<string, number>();
  const identifiers = new Set<string>();
  const add = (term: string, weight: number) => found.set(term, (found.get(term) ?? 0) + weight);
  let before: RegExpExecArray | undefined;
  for (const match of cut.matchAll(WORD)) {
    const [word] = match;
    const isStop = STOP.has(word.toLowerCase());
    if (before && !isStop && /^[\s-]$/.test(cut.slice(before.index + before[0].length, match.index))) {
      const joined = splitter.word(before[0] + word.toLowerCase()).at(-1);
      if (joined !== undefined) add(joined, weights.pairs);
    }
    before = isStop ? undefined : match;
    if (isStop) continue;
    if (isName(word)) identifiers.add(word);
    const terms = splitter.word(word);
    const share = match.index < place ? weights.place : 1;
    for (const [index, term] of terms.entries()) {
      const isWhole = terms.length > 1 && index === terms.length - 1;
      add(term, share * (isWhole ? weights.wholes : 1) * (VERBS.has(term) ? weights.verbs : 1));
    }
  }
  for (const [name] of cut.matchAll(/`([^`\n]{2,80})`/g))
    for (const [word] of name.matchAll(WORD)) if (!STOP.has(word.toLowerCase())) identifiers.add(word);
  const terms = [...found].map(([term, weight]) => ({ term, weight: weight > 1 ? 1 + Math.log(weight) : weight }));
  const kinds = new Set(KIND_WORDS.filter(([, words]) => words.test(cut)).map(([kind]) => kind));
  return { terms: terms.filter(({ weight }) => weight > 0), identifiers: [...identifiers].slice(0, 64), kinds };
}

/** camelCase, snake_case, CONSTANT_CASE, or with a capital inside: nobody writes prose so. */
function isName(word: string): boolean {
  return /[\p{Ll}\p{N}]\p{Lu}|\p{Lu}\p{Lu}\p{Ll}|[\p{L}\p{N}]_[\p{L}\p{N}]/u.test(word);
}
