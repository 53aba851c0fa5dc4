/** How text becomes terms: the same way for what is indexed and for what is asked. */
const WORD = /[\p{L}\p{N}_$]+/gu;
const PART = /\p{Lu}+(?=\p{Lu}\p{Ll})|\p{Lu}?[\p{Ll}\p{Lo}\p{Lm}]+|\p{Lu}+|\p{N}+/gu;
const CJK = /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]/;
const MAX_WORD = 64;
const MAX_KEPT = 50_000;

export interface Splitter {
  /** Every term of a text, in order; an identifier gives itself and its parts. */
  terms(text: string): string[];
  /** The terms of one word: parts first, the whole last when it is made of several. */
  word(word: string): readonly string[];
}

/** Words repeat: what one gives is kept, within bounds. */
export function createSplitter(): Splitter {
  const kept = new Map<string, readonly string[]>();
  function word(text: string): readonly string[] {
    let found = kept.get(text);
    if (!found) {
      if (kept.size >= MAX_KEPT) kept.clear();
      kept.set(text, (found = split(text)));
    }
    return found;
  }
  return {
    word,
    terms(text) {
      const all: string[] = [];
      for (const match of text.matchAll(WORD)) for (const term of word(match[0])) all.push(term);
      return all;
    },
  };
}

function split(word: string): readonly string[] {
  // Long runs without a break are data, not names.
  if (word.length > MAX_WORD) return [];
  if (CJK.test(word)) return pairs(word);
  const parts = (word.match(PART) ?? []).map((part) => part.toLowerCase());
  if (parts.length === 0) return [];
  if (parts.length === 1) return [stem(parts[0]!)];
  const terms = parts.filter((part) => part.length > 1).map(stem);
  terms.push(stem(parts.join("")));
  return terms;
}

/** Scripts without spaces: every two neighbours are a term. */
function pairs(word: string): string[] {
  const chars = [...word.toLowerCase()];
  if (chars.length < 2) return chars;
  return chars.slice(1).map((char, index) => chars[index]! + char);
}

/** Light: plurals, -ing and -ed fall together, and what was doubled before them. */
export function stem(word: string): string {
  if (word.length < 4 || /\P{ASCII}|\d/u.test(word)) return word;
  let root = word;
  if (root.endsWith("ies") && root.length > 4) root = `${root.slice(0, -3)}y`;
  else if (/(ss|sh|ch|x|z)es$/.test(root)) root = root.slice(0, -2);
  else if (root.endsWith("s") && !/(ss|us|is)$/.test(root)) root = root.slice(0, -1);
  if (root.endsWith("ing") && root.length > 5 && /[aeiouy].*ing$/.test(root)) root = undoubled(root.slice(0, -3));
  else if (root.endsWith("ed") && root.length > 4 && /[aeiouy].*ed$/.test(root)) root = undoubled(root.slice(0, -2));
  return root.length > 4 && root.endsWith("e") ? root.slice(0, -1) : root;
}

function undoubled(root: string): string {
  return /([bdfgmnprt])\1$/.test(root) ? root.slice(0, -1) : root;
}
