/** The last bytes of an output, each with its place counted from the beginning: a reader that comes back finds its place again. */
export interface Ring {
  push(chunk: Uint8Array): void;
  /** Place after the last byte. */
  readonly end: number;
  /**
   * Text from a place on, at most `max_bytes` of it, cut between characters. `dropped`: bytes that were gone before they were read.
   * A character that is not complete yet waits for its rest unless `final`.
   */
  read(from: number, max_bytes: number, final: boolean): { text: string; next: number; dropped: number };
  includes(text: string, from: number): boolean;
}

export function createRing(max_bytes: number): Ring {
  let chunks: Buffer[] = [];
  let start = 0;
  let end = 0;

  function trim(): void {
    while (chunks.length > 1 && end - start - chunks[0]!.length >= max_bytes) start += chunks.shift()!.length;
    const over = end - start - max_bytes;
    // Cut only when a quarter too much has gathered, so that a flood is not copied for every chunk.
    if (over <= max_bytes / 4) return;
    chunks = [Buffer.from(Buffer.concat(chunks).subarray(over))];
    start += over;
  }

  function bytesFrom(from: number): Buffer {
    if (chunks.length > 1) chunks = [Buffer.concat(chunks)];
    return (chunks[0] ?? Buffer.alloc(0)).subarray(Math.max(0, from - start));
  }

  return {
    push(chunk) {
      chunks.push(Buffer.from(chunk));
      end += chunk.length;
      trim();
    },
    get end() {
      return end;
    },
    read(from, max_bytes, final) {
      const place = Math.min(Math.max(from, start), end);
      const bytes = bytesFrom(place);
      const cut = Math.min(bytes.length, max_bytes);
      const length = final && cut === bytes.length ? cut : wholeLength(bytes, cut);
      return { text: bytes.toString("utf8", 0, length), next: place + length, dropped: Math.max(0, start - from) };
    },
    includes: (text, from) => bytesFrom(Math.max(from, start)).includes(text),
  };
}

/** Length of the longest prefix within `cut` that does not end inside a character. What is no UTF-8 at all is cut anywhere. */
function wholeLength(bytes: Buffer, cut: number): number {
  for (let back = 1; back <= Math.min(3, cut); back++) {
    const byte = bytes[cut - back]!;
    if ((byte & 0xc0) === 0x80) continue;
    const need = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    // A character wider than the whole page still has to go out, or a reader would stand still.
    return need > back && cut > back ? cut - back : need > back && bytes.length < need ? cut - back : cut;
  }
  return cut;
}
