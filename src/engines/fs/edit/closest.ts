export interface Closest {
  /** From 1. */
  readonly line: number;
  /** Whole lines of the file. */
  readonly text: string;
  /** What alone keeps the text from fitting, if it is one of these. */
  readonly cause?: "line_endings" | "escapes" | "whitespace" | "case";
}

const MAX_LINES = 100_000;
const CANDIDATES = 12;
const LIKE_ENOUGH = 0.4;

/** The place in the file that was probably meant. */
export function closestPlace(text: string, wanted: string): Closest | undefined {
  const lines = text.split("\n", MAX_LINES);
  return (
    byEndings(text, lines, wanted) ??
    byEscapes(text, lines, wanted) ??
    byFolding(lines, wanted, (line) => line.replace(/\s+/g, " ").trim(), "whitespace") ??
    byFolding(lines, wanted, (line) => line.toLowerCase(), "case") ??
    byLikeness(lines, wanted)
  );
}

function byEndings(text: string, lines: readonly string[], wanted: string): Closest | undefined {
  const plain = wanted.replaceAll("\r\n", "\n");
  const at = text.replaceAll("\r\n", "\n").indexOf(plain);
  return at < 0 ? undefined : placeAt(lines, lineAt(text.replaceAll("\r\n", "\n"), at), plain, "line_endings");
}

const ESCAPED: Readonly<Record<string, string>> = {
  n: "\n",
  t: "\t",
  r: "\r",
  '"': '"',
  "'": "'",
  "`": "`",
  "\\": "\\",
  "/": "/",
  $: "$",
};
const ENTITIES: Readonly<Record<string, string>> = {
  "&lt;": "<",
  "&gt;": ">",
  "&amp;": "&",
  "&quot;": '"',
  "&#39;": "'",
};

function byEscapes(text: string, lines: readonly string[], wanted: string): Closest | undefined {
  const readings = [
    wanted.replace(/\\([ntr"'`\\/$])/g, (_, char: string) => ESCAPED[char]!),
    wanted.replace(/&(lt|gt|amp|quot|#39);/g, (entity) => ENTITIES[entity]!),
    JSON.stringify(wanted).slice(1, -1),
    wanted.replaceAll("\\", "\\\\"),
    wanted.replace(/[<>&]/g, (char) => Object.keys(ENTITIES).find((entity) => ENTITIES[entity] === char)!),
  ];
  for (const reading of readings) {
    const at = reading === wanted || reading === "" ? -1 : text.indexOf(reading);
    if (at >= 0) return placeAt(lines, lineAt(text, at), reading, "escapes");
  }
  return undefined;
}

/** Equal once both are folded: the first line may begin and the last line end in the middle of a line of the file. */
function byFolding(
  lines: readonly string[],
  wanted: string,
  fold: (line: string) => string,
  cause: "whitespace" | "case",
): Closest | undefined {
  const sought = trimmedLines(wanted).map(fold);
  if (sought.length === 0) return undefined;
  const folded = lines.map(fold);
  const last = sought.length - 1;
  const fits = (start: number) =>
    sought.every((line, index) => {
      const found = folded[start + index]!;
      if (last === 0) return found.includes(line);
      if (index === 0) return found.endsWith(line);
      return index === last ? found.startsWith(line) : found === line;
    });
  for (let start = 0; start + last < folded.length; start++)
    if (fits(start)) return { line: start + 1, text: lines.slice(start, start + last + 1).join("\n"), cause };
  return undefined;
}

/** The window of as many lines that shares most pairs of characters with the text. */
function byLikeness(lines: readonly string[], wanted: string): Closest | undefined {
  const sought = trimmedLines(wanted);
  const anchor = sought.reduce(
    (best, line, index) => (line.trim().length > sought[best]!.trim().length ? index : best),
    0,
  );
  const words = new Set(sought[anchor]?.match(/\w{2,}/g) ?? []);
  if (words.size === 0) return undefined;
  const ranked = lines
    .map((line, index) => ({
      index,
      score: [...words].reduce((sum, word) => sum + (line.includes(word) ? word.length : 0), 0),
    }))
    .filter((entry) => entry.score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, CANDIDATES);
  const pairs = pairsOf(sought.join("\n"));
  let best: { line: number; text: string; likeness: number } | undefined;
  for (const { index } of ranked) {
    const start = Math.max(0, index - anchor);
    const text = lines.slice(start, start + sought.length).join("\n");
    const likeness = dice(pairs, pairsOf(text));
    if (likeness >= LIKE_ENOUGH && likeness > (best?.likeness ?? 0)) best = { line: start + 1, text, likeness };
  }
  return best && { line: best.line, text: best.text };
}

function placeAt(lines: readonly string[], line: number, found: string, cause: NonNullable<Closest["cause"]>): Closest {
  const count = found.split("\n").length - (found.endsWith("\n") ? 1 : 0);
  return { line: line + 1, text: lines.slice(line, line + count).join("\n"), cause };
}

function lineAt(text: string, at: number): number {
  let line = 0;
  for (let next = text.indexOf("\n"); next >= 0 && next < at; next = text.indexOf("\n", next + 1)) line++;
  return line;
}

/** Without empty lines at both ends: they say nothing about the place. */
function trimmedLines(text: string): string[] {
  const lines = text.split("\n");
  while (lines.length > 0 && lines[0]!.trim() === "") lines.shift();
  while (lines.length > 0 && lines.at(-1)!.trim() === "") lines.pop();
  return lines;
}

function pairsOf(text: string): Map<string, number> {
  const pairs = new Map<string, number>();
  const clipped = text.slice(0, 4000).replace(/\s+/g, " ");
  for (let at = 0; at + 1 < clipped.length; at++) {
    const pair = clipped.slice(at, at + 2);
    pairs.set(pair, (pairs.get(pair) ?? 0) + 1);
  }
  return pairs;
}

function dice(a: Map<string, number>, b: Map<string, number>): number {
  let shared = 0;
  let total = 0;
  for (const [pair, count] of a) {
    shared += Math.min(count, b.get(pair) ?? 0);
    total += count;
  }
  for (const count of b.values()) total += count;
  return total === 0 ? 0 : (2 * shared) / total;
}
