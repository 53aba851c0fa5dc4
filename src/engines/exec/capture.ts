/** One output stream, held within bounds while it is read: its beginning and its end are kept, the middle is counted. */
export interface Capture {
  /** Copies what it keeps: the chunk stays the caller's. */
  push(chunk: Uint8Array): void;
  readonly bytes: number;
  readonly truncated: boolean;
  /** What was kept, as text, with a line in the middle that says what is missing. */
  text(): string;
}

export function createCapture(max_bytes: number): Capture {
  const headMax = Math.ceil(max_bytes / 2);
  const tailMax = max_bytes - headMax;
  const head: Uint8Array[] = [];
  let headBytes = 0;
  let bytes = 0;
  // One block, written round and round: a flood leaves no garbage behind.
  let tail: Buffer | undefined;
  let tailBytes = 0;

  function pushTail(chunk: Uint8Array): void {
    if (tailMax === 0) return;
    tail ??= Buffer.allocUnsafeSlow(tailMax);
    const last = chunk.length > tailMax ? chunk.subarray(chunk.length - tailMax) : chunk;
    const at = (tailBytes + chunk.length - last.length) % tailMax;
    const first = last.subarray(0, tailMax - at);
    tail.set(first, at);
    tail.set(last.subarray(first.length), 0);
    tailBytes += chunk.length;
  }

  function tailText(): Buffer {
    if (!tail || tailBytes <= tailMax) return tail?.subarray(0, tailBytes) ?? Buffer.alloc(0);
    const at = tailBytes % tailMax;
    return Buffer.concat([tail.subarray(at), tail.subarray(0, at)]);
  }

  return {
    push(chunk) {
      bytes += chunk.length;
      const room = headMax - headBytes;
      if (room > 0) {
        const part = chunk.subarray(0, room);
        head.push(Uint8Array.from(part));
        headBytes += part.length;
      }
      if (chunk.length > room) pushTail(chunk.subarray(Math.max(0, room)));
    },
    get bytes() {
      return bytes;
    },
    get truncated() {
      return bytes > headBytes + Math.min(tailBytes, tailMax);
    },
    text() {
      const first = Buffer.concat(head);
      const last = tailText();
      const missing = bytes - first.length - last.length;
      if (missing === 0) return Buffer.concat([first, last]).toString("utf8");
      return `${wholeEnd(first)}\n[... ${missing} bytes left out ...]\n${wholeStart(last)}`;
    },
  };
}

/** Text without the half of a character at its end. */
function wholeEnd(bytes: Buffer): string {
  let end = bytes.length;
  for (let back = 1; back <= Math.min(3, end); back++) {
    const byte = bytes[end - back]!;
    if ((byte & 0xc0) === 0x80) continue;
    const need = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    if (need > back) end -= back;
    break;
  }
  return bytes.toString("utf8", 0, end);
}

/** Text without the half of a character at its beginning. */
function wholeStart(bytes: Buffer): string {
  let start = 0;
  while (start < 3 && start < bytes.length && (bytes[start]! & 0xc0) === 0x80) start++;
  return bytes.toString("utf8", start);
}
