/**
 * What a text costs a model, in o200k tokens, without loading a tokenizer. It walks the text once and prices runs of letters,
 * digits, signs and white space the way that vocabulary cuts them. Made to bound answers: it errs on the dear side, also for
 * hex, base64, lock files and rare scripts, where estimates by length are off by four. Every long answer waits for it, so the
 * walk is one loop a kind over a table, without a call a character.
 */
export function countTokens(text: string): number {
  const end = text.length;
  let cost = 0;
  let index = 0;
  while (index < end) {
    const start = index;
    let code = text.charCodeAt(index);
    let kind = kindOf(code);
    if (kind >= LETTER && kind <= UPPER_VOWEL) {
      let from = start;
      let vowels = kind & VOWEL;
      let isUpper = kind >= UPPER;
      let words = 0;
      while (++index < end && (code = text.charCodeAt(index)) < 128) {
        kind = ASCII[code]!;
        if (kind < LETTER || kind > UPPER_VOWEL) break;
        // Words are cut where a capital begins a new one.
        if (kind >= UPPER && !isUpper) {
          words += word(index - from, vowels);
          from = index;
          vowels = 0;
        }
        vowels += kind & VOWEL;
        isUpper = kind >= UPPER;
      }
      cost += words + word(index - from, vowels);
    } else if (kind === SIGN) {
      let changes = 1;
      for (let last = code; ++index < end && kindOf((code = text.charCodeAt(index))) === SIGN; last = code)
        if (code !== last) changes++;
      cost += Math.max(0.8, changes * (changes > 6 ? 0.95 : 0.66), (index - start) / 24);
    } else {
      while (++index < end && kindOf(text.charCodeAt(index)) === kind);
      cost += price(kind, index - start, code);
    }
  }
  return Math.ceil(cost);
}

const SPACE = 0;
const DIGIT = 1;
/** The four kinds of letters: the last bit says vowel. */
const LETTER = 2;
const VOWEL = 1;
const UPPER = 4;
const UPPER_VOWEL = 5;
const SIGN = 6;
const NEAR = 7;
const CJK = 8;
const PAIR = 9;
const FAR = 10;

const ASCII: Uint8Array = Uint8Array.from({ length: 128 }, (_, code) => {
  if (code === 32 || (code >= 9 && code <= 13)) return SPACE;
  if (code >= 48 && code <= 57) return DIGIT;
  const vowel = "aeiouAEIOU".includes(String.fromCharCode(code)) ? VOWEL : 0;
  if (code >= 65 && code <= 90) return UPPER + vowel;
  return code >= 97 && code <= 122 ? LETTER + vowel : SIGN;
});

function kindOf(code: number): number {
  return code < 128 ? ASCII[code]! : farKindOf(code);
}

function farKindOf(code: number): number {
  if (code < 0x0530) return NEAR;
  if ((code >= 0x3000 && code <= 0x9fff) || (code >= 0xac00 && code <= 0xd7af) || code < 0x1000 || code >= 0xff00)
    return CJK;
  return (code >= 0xd800 && code <= 0xdfff) || (code >= 0x2000 && code < 0x3000) ? PAIR : FAR;
}

/** Of a run that is neither letters nor signs. */
function price(kind: number, length: number, first: number): number {
  switch (kind) {
    case SPACE:
      // One blank before a word belongs to the word.
      return length === 1 && first === 32 ? 0.05 : Math.max(0.7, length / 15);
    case DIGIT:
      return Math.ceil(length / 3);
    case NEAR:
      return Math.max(1, length * 0.4);
    case CJK:
      return length * 0.85;
    case PAIR:
      return length * 1.1;
    default:
      return length * DEAREST;
  }
}

/** Long words cost more, and more so when they are not made of syllables. */
function word(length: number, vowels: number): number {
  if (length <= 2) return 1;
  const spoken = vowels * 5 >= length && vowels * 10 <= length * 7;
  if (spoken) return length <= 7 ? 1 : 1 + (length - 7) / 5;
  return length <= 3 ? 1.1 : length / 1.8;
}

/** What a character of the rarest scripts costs. One of ASCII costs one token at most. */
const DEAREST = 2.6;

/** More than this it cannot cost, whatever it holds: known without a walk. */
export function atMostTokens(text: string): number {
  // A character beyond ASCII is at least one byte longer than it is characters.
  return Math.ceil(text.length + (Buffer.byteLength(text) - text.length) * (DEAREST - 1));
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
