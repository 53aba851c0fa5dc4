import type { Db } from "../../base/db.ts";
import type { Ranked, Ranking } from "./rank.ts";
import { linesOf } from "./store.ts";
import type { Splitter } from "./terms.ts";

export interface Snippet {
  readonly text: string;
  readonly path: string;
  readonly first: number;
  readonly last: number;
  readonly score: number;
  readonly symbol: string | undefined;
}

export interface Picked {
  readonly file: Ranked;
  readonly first: number;
  readonly last: number;
  readonly symbol: string;
  readonly value: number;
}

interface PackOptions {
  readonly budget_tokens: number;
  readonly splitter: Splitter;
  readonly ranking: Ranking;
  tokens(text: string): number;
  shown(path: string): string;
}

/** Estimates may be a little low where the text is strange. */
const SAFE = 0.92;
/** Each further chunk of a file must be this much better than another file's. */
const AGAIN = 0.55;
const MAX_CHUNKS = 6;
/** What a snippet's place and punctuation cost besides its text. */
const AROUND = 6;

/** The chunks to quote: best first, with a preference for files not quoted yet. */
export function pick(db: Db, files: readonly Ranked[], count: number): Picked[] {
  const pool = files.slice(0, Math.max(count * 2, 10)).flatMap((file) => {
    const best = file.chunks[0]?.score || 1;
    return file.chunks.slice(0, MAX_CHUNKS).map((chunk, place) => ({
      file,
      id: chunk.id,
      value: file.score * (chunk.score / best) * AGAIN ** place,
    }));
  });
  pool.sort((a, b) => b.value - a.value);
  return pool.slice(0, count).flatMap(({ file, id, value }) => {
    const row = db.get<{ first: number; last: number; symbol: string }>(
      "SELECT first, last, symbol FROM chunks WHERE id = ?",
      id,
    );
    return row ? [{ file, value, ...row }] : [];
  });
}

/** Quotes what was picked from the texts themselves, within the budget. The first always says something. */
export function pack(picked: readonly Picked[], texts: ReadonlyMap<string, string>, options: PackOptions): Snippet[] {
  const snippets: Snippet[] = [];
  let left = options.budget_tokens * SAFE;
  for (const [index, one] of picked.entries()) {
    const lines = linesOf(texts.get(one.file.path) ?? "").slice(one.first - 1, one.last);
    const rest = picked.length - index;
    const head = options.tokens(options.shown(one.file.path)) + options.tokens(one.symbol) + AROUND;
    const share = (rest === 1 ? left : Math.min(left, (left / rest) * 1.5)) - head;
    const cut = fitting(lines, share, index === 0, options);
    if (!cut) continue;
    left -= head + options.tokens(cut.text);
    const first = one.first + cut.from;
    snippets.push({
      text: cut.text,
      path: one.file.path,
      first,
      last: first + cut.count - 1,
      score: Math.round((one.value / (one.value + 12)) * 100) / 100,
      symbol: one.symbol === "" ? undefined : one.symbol,
    });
  }
  return snippets;
}

interface Cut {
  readonly text: string;
  readonly from: number;
  readonly count: number;
}

/** All of the lines, or those around the words that were asked for; cut at line ends. */
function fitting(lines: readonly string[], tokens: number, isFirst: boolean, options: PackOptions): Cut | undefined {
  const whole = lines.join("\n").trimEnd();
  if (options.tokens(whole) <= tokens)
    return whole === "" ? undefined : { text: whole, from: 0, count: whole.split("\n").length };
  const costs = lines.map((line) => options.tokens(line) + 1);
  const worth = lines.map((line) => worthOf(line, options));
  let from = worth.indexOf(Math.max(...worth));
  let to = from + 1;
  let spent = costs[from] ?? 0;
  if (spent > tokens) return isFirst ? shortened(lines[from] ?? "", from, tokens, options) : undefined;
  for (;;) {
    const up = from > 0 && spent + costs[from - 1]! <= tokens;
    const down = to < lines.length && spent + costs[to]! <= tokens;
    if (!up && !down) break;
    // The lines above say what it is; those below what it does. Whichever side tells more goes first.
    const goUp = up && (!down || near(worth, from - 1, -1) >= near(worth, to, 1));
    spent += goUp ? costs[--from]! : costs[to++]!;
  }
  let text = lines.slice(from, to).join("\n");
  while (to - from > 1 && options.tokens(text) > tokens) text = lines.slice(from, --to).join("\n");
  return { text, from, count: to - from };
}

/** The next few lines on one side, the nearest counting most. */
function near(worth: readonly number[], at: number, step: number): number {
  let sum = 0;
  for (let index = 0; index < 5; index++) sum += (worth[at + step * index] ?? 0) / (index + 1);
  return sum;
}

function worthOf(line: string, { ranking, splitter }: PackOptions): number {
  let sum = 0;
  for (const term of new Set(splitter.terms(line.slice(0, 400)))) sum += ranking.worth.get(term) ?? 0;
  return sum;
}

/** One line that is too long for all of the budget. */
function shortened(line: string, from: number, tokens: number, options: PackOptions): Cut | undefined {
  let length = Math.min(line.length, Math.max(1, Math.floor(tokens * 4)));
  while (length > 1 && options.tokens(line.slice(0, length)) > tokens) length = Math.floor(length * 0.8);
  const text = line.slice(0, length).replace(/[\ud800-\udbff]$/, "");
  return text === "" ? undefined : { text, from, count: 1 };
}
