import { isUtf8 } from "node:buffer";
import { closeSync } from "node:fs";
import { type Pinned, reopen } from "../../base/path/index.ts";
import { type BinaryKind, binaryKind } from "./binary.ts";
import { readInto, wholeCharacters } from "./io.ts";
import { BLOCK, type LineIndex } from "./line-index.ts";

/** Longer lines are cut, with a mark that says how to get the rest. */
export const MAX_LINE_BYTES = 8 * 1024;
/** A slice ends here even when fewer lines were read than asked for. */
const MAX_SLICE_BYTES = 2 * 1024 * 1024;
/** Beyond this size the lines of the whole file are not counted for one slice. */
const COUNT_BYTES = 64 * 1024 * 1024;
/** How far the end of one line is sought before the slice ends within it. */
const MAX_SEEK_BYTES = 16 * 1024 * 1024;
const WINDOW = 2 * BLOCK;

export interface LineSlice {
  readonly content: string;
  /** Lines in `content`. */
  readonly lines: number;
  readonly total_lines: number;
  readonly total_lines_is_lower_bound: boolean;
  /** Lines follow after this slice. */
  readonly truncated: boolean;
  /** Some bytes are not UTF-8 and are shown as U+FFFD. */
  readonly replaced: boolean;
  /** Lines that were too long to show whole. */
  readonly cut_lines: number;
  /** Set when the file is not text: then there is no content. */
  readonly binary: BinaryKind | undefined;
}

/** Lines end at \n only and keep their endings: slices joined are the file. */
export async function readLines(
  file: Pinned,
  index: LineIndex,
  offset_lines: number,
  max_lines: number,
  signal?: AbortSignal,
): Promise<LineSlice> {
  const fd = reopen(file);
  try {
    const reader = new Reader(fd, file.stat.size, signal);
    if (index.binary === undefined) index.binary = binaryKind(await reader.window(0)) ?? null;
    if (index.binary) return { ...NOTHING, binary: index.binary };
    await index.extend(fd, offset_lines, file.stat.size, signal);
    const start = await startOf(reader, index, offset_lines);
    const slice = start === undefined ? EMPTY : await collect(reader, start, max_lines);
    if (file.stat.size <= COUNT_BYTES) await index.extend(fd, Number.POSITIVE_INFINITY, file.stat.size, signal);
    const counted = await total(reader, index, offset_lines + slice.lines, slice.end ?? file.stat.size);
    const bytes = slice.parts.length === 1 ? slice.parts[0]! : Buffer.concat(slice.parts);
    return {
      content: bytes.toString("utf8"),
      lines: slice.lines,
      ...counted,
      truncated: slice.end !== undefined && slice.end < file.stat.size,
      replaced: !isUtf8(bytes),
      cut_lines: slice.cut_lines,
      binary: undefined,
    };
  } finally {
    closeSync(fd);
  }
}

const NOTHING = {
  content: "",
  lines: 0,
  total_lines: 0,
  total_lines_is_lower_bound: false,
  truncated: false,
  replaced: false,
  cut_lines: 0,
};

interface Collected {
  readonly parts: Buffer[];
  readonly lines: number;
  readonly cut_lines: number;
  /** Where the next line begins; absent when the slice lies behind the end. */
  readonly end: number | undefined;
}

const EMPTY: Collected = { parts: [], lines: 0, cut_lines: 0, end: undefined };

/** One window on the file at a time. */
class Reader {
  readonly size: number;
  readonly #fd: number;
  readonly #signal: AbortSignal | undefined;
  #bytes: Buffer = Buffer.alloc(0);
  #from = 0;

  constructor(fd: number, size: number, signal: AbortSignal | undefined) {
    this.#fd = fd;
    this.size = size;
    this.#signal = signal;
  }

  /** The bytes from here on, at least a block of them or all that is left. */
  async window(offset: number): Promise<Buffer> {
    const end = this.#from + this.#bytes.length;
    const reaches = end >= this.size || end - offset > BLOCK;
    if (offset >= this.#from && reaches) return this.#bytes.subarray(offset - this.#from);
    const length = Math.max(0, Math.min(WINDOW, this.size - offset));
    this.#bytes = await readInto(this.#fd, Buffer.allocUnsafe(length), offset, this.#signal);
    this.#from = offset;
    return this.#bytes;
  }

  /** Where the line that begins before `offset` ends (behind its \n), looking at most so far. */
  async lineEnd(offset: number, limit: number): Promise<number | undefined> {
    for (let at = offset; at < this.size; ) {
      if (at - offset > limit) return undefined;
      const window = await this.window(at);
      if (window.length === 0) return this.size;
      const newline = window.indexOf(10);
      if (newline >= 0) return at + newline + 1;
      at += window.length;
    }
    return this.size;
  }
}

/** The line's beginning lies in one block of the index, and a window holds more than a block. */
async function startOf(reader: Reader, index: LineIndex, line: number): Promise<number | undefined> {
  if (line === 0) return 0;
  if (index.newlines < line) return undefined;
  const block = index.blockBefore(line);
  const window = await reader.window(block.offset);
  let at = 0;
  for (let skipped = block.skipped; skipped < line; skipped++) {
    const newline = window.indexOf(10, at);
    // The file shrank since it was indexed: there is no such line any more.
    if (newline < 0) return undefined;
    at = newline + 1;
  }
  return block.offset + at;
}

async function collect(reader: Reader, start: number, max_lines: number): Promise<Collected> {
  const parts: Buffer[] = [];
  let lines = 0;
  let cut_lines = 0;
  let taken = 0;
  let at = start;
  while (lines < max_lines && at < reader.size && taken < MAX_SLICE_BYTES) {
    const window = await reader.window(at);
    if (window.length === 0) break;
    const run = wholeLines(window, max_lines - lines, at + window.length >= reader.size);
    if (run.lines > 0) {
      parts.push(window.subarray(0, run.bytes));
      lines += run.lines;
      taken += run.bytes;
      at += run.bytes;
      continue;
    }
    const end = await reader.lineEnd(at, MAX_SEEK_BYTES);
    const head = (await reader.window(at)).subarray(0, MAX_LINE_BYTES);
    const shown = Buffer.from(head.subarray(0, wholeCharacters(head)));
    parts.push(shown, cutMark(at + shown.length, end));
    lines++;
    cut_lines++;
    taken += shown.length;
    if (end === undefined) return { parts, lines, cut_lines, end: at + shown.length };
    at = end;
  }
  return { parts, lines, cut_lines, end: at };
}

function cutMark(from: number, end: number | undefined): Buffer {
  const rest = end === undefined ? "more" : `${end - from}`;
  return Buffer.from(`[... ${rest} bytes of this line cut: read_file offset_bytes=${from}]\n`);
}

/** How many lines at the front of the window are whole and short enough to show. */
function wholeLines(window: Buffer, max_lines: number, isLast: boolean): { lines: number; bytes: number } {
  let lines = 0;
  let bytes = 0;
  while (lines < max_lines && bytes < window.length && bytes < MAX_SLICE_BYTES) {
    const newline = window.indexOf(10, bytes);
    if (newline < 0 && !isLast) break;
    const end = newline < 0 ? window.length : newline + 1;
    if (end - bytes > MAX_LINE_BYTES) break;
    bytes = end;
    lines++;
  }
  return { lines, bytes };
}

/** The number of lines: exact once the index knows the whole file. */
async function total(
  reader: Reader,
  index: LineIndex,
  seen: number,
  end: number,
): Promise<{ total_lines: number; total_lines_is_lower_bound: boolean }> {
  const atLeast = Math.max(seen + (end < reader.size ? 1 : 0), index.newlines);
  if (!index.isComplete) return { total_lines: atLeast, total_lines_is_lower_bound: end < reader.size };
  if (reader.size === 0) return { total_lines: 0, total_lines_is_lower_bound: false };
  const last = (await reader.window(reader.size - 1))[0];
  return { total_lines: index.newlines + (last === 10 ? 0 : 1), total_lines_is_lower_bound: false };
}
