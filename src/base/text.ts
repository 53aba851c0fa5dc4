/** Characters that could fake a line, an entry or a reading order: C0 and C1 controls, bidi and zero-width marks, separators. */
const TRICKY = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

function escaped(char: string): string {
  if (char === "\n") return "\\n";
  if (char === "\t") return "\\t";
  if (char === "\r") return "\\r";
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** A name as one harmless line. */
export function visible(name: string): string {
  return name.replace(TRICKY, escaped);
}

/** Names as harmless lines, one each. Most lists hold no tricky character, which one look at all of them tells. */
export function visibleLines(names: readonly string[]): string {
  const isPlain = names.join(" ").search(TRICKY) === -1;
  return (isPlain ? names : names.map(visible)).join("\n");
}

/** JSON that stays exact when parsed and shows no tricky character as itself. */
export function safeJson(value: unknown): string {
  return JSON.stringify(value).replace(TRICKY, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** The candidate closest to a word, when it is close enough to be meant. */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined;
  let bestDistance = Math.max(2, Math.floor(word.length / 3)) + 1;
  for (const candidate of candidates) {
    const distance = editDistance(word, candidate, bestDistance);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) >= limit) return limit;
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const substitution = previous[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      row.push(Math.min(substitution, previous[j]! + 1, row[j - 1]! + 1));
    }
    previous = row;
  }
  return previous[b.length]!;
}
