/** One line of output. Of a long line only a window around the match is kept. */
export interface LineRecord {
  /** The same object for as long as the file is the same. */
  readonly path: Buffer;
  readonly line: number;
  /** Byte in the line where the first match starts; -1 for a context line. */
  readonly match: number;
  /** Byte in the file where the line starts. */
  readonly offset: number;
  /** Bytes of the line from `from` on. */
  readonly text: Buffer;
  readonly from: number;
  readonly length: number;
}

const NUL = 0;
const NEWLINE = 10;
const COLON = 58;
const MAX_HEADER = 64 * 1024;

/** Cuts ripgrep's output into records as it streams in, however long its lines are. */
export function createRecords(
  window: { readonly before: number; readonly after: number },
  emit: (record: LineRecord) => void,
) {
  let path: Buffer = Buffer.alloc(0);
  let rest: Buffer | undefined;
  let open:
    | { line: number; match: number; offset: number; from: number; to: number; seen: number; parts: Buffer[] }
    | undefined;

  function push(chunk: Buffer): void {
    let buffer = chunk;
    let at = open ? takeText(chunk, 0) : 0;
    if (rest) {
      buffer = Buffer.concat([rest, chunk]);
      rest = undefined;
    }
    while (at < buffer.length) {
      const text = takeHeader(buffer, at);
      if (text === -1) {
        if (buffer.length - at < MAX_HEADER) rest = Buffer.from(buffer.subarray(at));
        return;
      }
      at = takeText(buffer, text);
    }
  }

  /** Where the text starts, or -1 while the header is not whole. */
  function takeHeader(buffer: Buffer, start: number): number {
    const nul = buffer.indexOf(NUL, start);
    if (nul === -1) return -1;
    const line = number(buffer, nul + 1);
    const isMatch = buffer[line.end] === COLON;
    const column = isMatch ? number(buffer, line.end + 1) : { value: 0, end: line.end };
    const offset = number(buffer, column.end + 1);
    if (offset.end >= buffer.length) return -1;
    const named = afterNotice(buffer, start, nul);
    if (buffer.compare(path, 0, path.length, named, nul) !== 0) path = Buffer.from(buffer.subarray(named, nul));
    const match = isMatch ? column.value - 1 : -1;
    const from = Math.max(0, match - window.before);
    open = {
      line: line.value,
      match,
      offset: offset.value,
      from,
      to: Math.max(0, match) + window.after,
      seen: 0,
      parts: [],
    };
    return offset.end + 1;
  }

  /** After the lines of a file that turned out to be binary ripgrep says so, in a line without a NUL. */
  function afterNotice(buffer: Buffer, start: number, nul: number): number {
    const newline = buffer.indexOf(NEWLINE, start);
    if (newline === -1 || newline > nul) return start;
    const told = buffer.toString("latin1", start, newline);
    return /: (WARNING: stopped searching binary file|binary file matches)/.test(told) ? newline + 1 : start;
  }

  function takeText(buffer: Buffer, start: number): number {
    const record = open!;
    const newline = buffer.indexOf(NEWLINE, start);
    const end = newline === -1 ? buffer.length : newline;
    const low = Math.max(record.from, record.seen);
    const high = Math.min(record.to, record.seen + end - start);
    if (low < high) record.parts.push(buffer.subarray(start + low - record.seen, start + high - record.seen));
    record.seen += end - start;
    if (newline === -1) return buffer.length;
    open = undefined;
    const text = record.parts.length === 1 ? record.parts[0]! : Buffer.concat(record.parts);
    const { line, match, offset, from } = record;
    emit({ path, line, match, offset, text, from, length: record.seen });
    return newline + 1;
  }

  return { push };
}

function number(buffer: Buffer, start: number): { readonly value: number; readonly end: number } {
  let value = 0;
  let at = start;
  for (; at < buffer.length; at++) {
    const digit = buffer[at]! - 48;
    if (digit < 0 || digit > 9) break;
    value = value * 10 + digit;
  }
  return { value, end: at };
}
