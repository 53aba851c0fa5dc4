/**
 * What a text costs a model, in o200k tokens, without loading a tokenizer. It walks the text once and prices runs of letters,
 * digits, signs and white space the way that vocabulary cuts them. Made to bound answers: it errs on the dear side, also for
 * hex, base64, lock files and rare scripts, where estimates by length are off by four.
 */
export function countTokens(text: string): number {
  let cost = 0;
  let index = 0;
  while (index < text.length) {
    const start = index;
    const kind = kindOf(text.charCodeAt(index++));
    while (index < text.length && kindOf(text.charCodeAt(index)) === kind) index++;
    cost += price(kind, text, start, index);
  }
  return Math.ceil(cost);
}

type Kind = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7;
const SPACE = 0;
const DIGIT = 1;
const LETTER = 2;
const SIGN = 3;
const NEAR = 4;
const CJK = 5;
const PAIR = 6;
const FAR = 7;

const ASCII: Uint8Array = Uint8Array.from({ length: 128 }, (_, code) => {
  if (code === 32 || (code >= 9 && code <= 13)) return SPACE;
  if (code >= 48 && code <= 57) return DIGIT;
  return (code >= 65 && code <= 90) || (code >= 97 && code <= 122) ? LETTER : SIGN;
});

function kindOf(code: number): Kind {
  if (code < 128) return ASCII[code] as Kind;
  if (code < 0x0530) return NEAR;
  if ((code >= 0x3000 && code <= 0x9fff) || (code >= 0xac00 && code <= 0xd7af) || code < 0x1000 || code >= 0xff00)
    return CJK;
  return (code >= 0xd800 && code <= 0xdfff) || (code >= 0x2000 && code < 0x3000) ? PAIR : FAR;
}

function price(kind: Kind, text: string, start: number, end: number): number {
  const length = end - start;
  switch (kind) {
    case SPACE:
      // One blank before a word belongs to the word.
      return length === 1 && text.charCodeAt(start) === 32 ? 0.05 : Math.max(0.7, length / 15);
    case DIGIT:
      return Math.ceil(length / 3);
    case LETTER:
      return letters(text, start, end);
    case SIGN:
      return signs(text, start, end);
    case NEAR:
      return Math.max(1, length * 0.4);
    case CJK:
      return length * 0.85;
    case PAIR:
      return length * 1.1;
    case FAR:
      return length * 2.6;
  }
}

/** Words: cut where a capital begins a new one. Long ones cost more, and more so when they are not made of syllables. */
function letters(text: string, start: number, end: number): number {
  let cost = 0;
  let from = start;
  for (let index = start + 1; index <= end; index++) {
    const breaks = index === end || (isUpper(text, index) && !isUpper(text, index - 1));
    if (!breaks) continue;
    cost += word(text, from, index);
    from = index;
  }
  return cost;
}

function word(text: string, from: number, to: number): number {
  const length = to - from;
  if (length <= 2) return 1;
  let vowels = 0;
  for (let index = from; index < to; index++) if ("aeiouAEIOU".includes(text[index]!)) vowels++;
  const spoken = vowels * 5 >= length && vowels * 10 <= length * 7;
  if (spoken) return length <= 7 ? 1 : 1 + (length - 7) / 5;
  return length <= 3 ? 1.1 : length / 1.8;
}

function signs(text: string, start: number, end: number): number {
  let changes = 1;
  for (let index = start + 1; index < end; index++)
    if (text.charCodeAt(index) !== text.charCodeAt(index - 1)) changes++;
  return Math.max(0.8, changes * (changes > 6 ? 0.95 : 0.66), (end - start) / 24);
}

function isUpper(text: string, index: number): boolean {
  const code = text.charCodeAt(index);
  return code >= 65 && code <= 90;
}

/** Arguments nested deeper than this are not looked into: nothing real is. */
const DEEPEST = 32;

/** How much text arguments carry, without making a copy of it. */
export function charsIn(value: unknown, depth = 0): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null || depth > DEEPEST) return 4;
  let sum = 2;
  for (const [key, child] of Object.entries(value)) sum += key.length + charsIn(child, depth + 1);
  return sum;
}

export function tokensIn(value: unknown, depth = 0): number {
  if (typeof value === "string") return countTokens(value);
  if (typeof value !== "object" || value === null || depth > DEEPEST) return 1;
  let sum = 1;
  for (const [key, child] of Object.entries(value)) sum += 2 + key.length / 6 + tokensIn(child, depth + 1);
  return Math.ceil(sum);
}
