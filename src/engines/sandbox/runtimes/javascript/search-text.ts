/** A line with a hit. `at` is its place in the text as a JavaScript string, `line` counts from 1. */
interface Hit {
  readonly at: number;
  readonly line: number;
  readonly text: string;
}

interface Wanted {
  readonly literal?: string;
  readonly source?: string;
  readonly flags?: string;
  /** No hit before this place. */
  readonly from: number;
  readonly max: number;
}

/** Decoded at a time: the whole text as a second string would double what it takes, and so would larger pieces before they are swept. */
const PIECE = 1 << 16;
/** A line that is longer than a piece is searched in pieces that overlap by this much. */
const OVERLAP = 4096;
const SHOWN = 300;
const MOST = 10_000;

/** Lines that hold a literal text or match an expression, in order. */
export function searchText(bytes: Buffer, wanted: Wanted): Hit[] {
  const matcher = matcherOf(wanted);
  const max = Math.min(wanted.max, MOST);
  const hits: Hit[] = [];
  let [chars, lines, last] = [0, 1, -1];
  for (let start = 0; start < bytes.length && hits.length < max; ) {
    const end = pieceEnd(bytes, start);
    const piece = bytes.toString("utf8", start, end);
    let [seen, above] = [0, 0];
    for (const place of matcher(piece, Math.max(0, wanted.from - chars))) {
      const at = chars + place;
      if (at <= last) continue;
      last = at;
      above += breaks(piece, seen, place);
      seen = place;
      hits.push({ at, line: lines + above, text: lineAround(piece, place) });
      if (hits.length >= max) break;
    }
    const next =
      end < bytes.length && bytes[end - 1] !== 10 ? boundary(bytes, Math.max(start + 1, end - OVERLAP)) : end;
    const passed = next === end ? piece : bytes.toString("utf8", start, next);
    chars += passed.length;
    lines += breaks(passed, 0, passed.length);
    start = next;
  }
  return hits;
}

function matcherOf({ literal, source, flags = "" }: Wanted): (piece: string, from: number) => Iterable<number> {
  if (literal !== undefined)
    return function* (piece, from) {
      if (literal === "") return;
      for (let at = piece.indexOf(literal, from); at >= 0; at = piece.indexOf(literal, at + literal.length)) yield at;
    };
  const expression = new RegExp(source!, [...new Set(`${flags.replace("y", "")}gm`)].join(""));
  return function* (piece, from) {
    expression.lastIndex = from;
    for (let found = expression.exec(piece); found; found = expression.exec(piece)) {
      yield found.index;
      if (found[0] === "") expression.lastIndex++;
    }
  };
}

/** After a line when one ends in the piece, else between two characters. */
function pieceEnd(bytes: Buffer, start: number): number {
  if (start + PIECE >= bytes.length) return bytes.length;
  const newline = bytes.lastIndexOf(10, start + PIECE);
  return newline > start ? newline + 1 : boundary(bytes, start + PIECE);
}

function boundary(bytes: Buffer, at: number): number {
  let place = at;
  while (place > 0 && (bytes[place]! & 0xc0) === 0x80) place--;
  return place;
}

function breaks(text: string, from: number, before: number): number {
  let count = 0;
  for (let at = text.indexOf("\n", from); at >= 0 && at < before; at = text.indexOf("\n", at + 1)) count++;
  return count;
}

function lineAround(text: string, at: number): string {
  const first = text.lastIndexOf("\n", at - 1) + 1;
  const end = text.indexOf("\n", at);
  const last = end < 0 ? text.length : end;
  if (last - first <= SHOWN) return text.slice(first, last).toWellFormed();
  const from = Math.max(first, at - SHOWN / 3);
  return text.slice(from, Math.min(last, from + SHOWN)).toWellFormed();
}
