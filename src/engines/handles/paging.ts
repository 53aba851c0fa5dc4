import { afterNewline, characterStart, countNewlines, lastLineStart } from "./lines.ts";

/** Bytes that can be read from any place and know where their lines start. */
export interface Source {
  readonly total_bytes: number;
  /** Fewer bytes than asked for only at the end. */
  read(offset: number, max_bytes: number): Promise<Uint8Array>;
  /** Where a line starts; undefined when there are fewer lines. */
  lineStart(line: number, signal?: AbortSignal): Promise<number | undefined>;
  /** Called after reading, so that what was learned then counts. */
  lines(signal?: AbortSignal): Promise<{ readonly total: number; readonly is_lower_bound: boolean }>;
}

export interface Page {
  readonly content: string;
  readonly more: boolean;
  /** Set when the page ended before its line count was reached: where the next one begins. */
  readonly next_offset_lines?: number;
  /** The one line of the page is longer than a page. */
  readonly line_cut?: true;
}

/** No page is larger, whatever its lines are. */
export const MAX_PAGE_BYTES = 1024 ** 2;
const BLOCK_BYTES = 64 * 1024;
/** The size of `chunk` pages: about 3,500 tokens of source code, 5,500 of base64. */
export const PAGE_BYTES = 12 * 1024;

export async function pageOfLines(
  source: Source,
  offset: number,
  max_lines: number,
  signal?: AbortSignal,
): Promise<Page> {
  const start = await source.lineStart(offset, signal);
  if (start === undefined) return { content: "", more: false };
  const blocks: Uint8Array[] = [];
  let size = 0;
  let lines = 0;
  while (size < MAX_PAGE_BYTES) {
    const block = await source.read(start + size, Math.min(BLOCK_BYTES, MAX_PAGE_BYTES - size));
    const end = afterNewline(block, max_lines - lines);
    const kept = end === -1 ? block : block.subarray(0, end);
    blocks.push(kept);
    size += kept.length;
    if (end !== -1 || start + size >= source.total_bytes || block.length === 0)
      return { content: text(blocks), more: start + size < source.total_bytes };
    lines += countNewlines(kept);
  }
  const bytes = Buffer.concat(blocks);
  if (lines > 0)
    return { content: text([bytes.subarray(0, lastLineStart(bytes))]), more: true, next_offset_lines: offset + lines };
  return { content: text([bytes.subarray(0, characterStart(bytes, bytes.length - 1))]), more: true, line_cut: true };
}

/**
 * Page `chunk` of fixed size. Its ends are the last line ends before multiples of the size (or the multiple itself, inside
 * a longer line): any page is found without the ones before it, and all of them joined are the payload.
 */
export async function pageOfBytes(source: Source, chunk: number): Promise<Page> {
  const last = Math.max(0, Math.ceil(source.total_bytes / PAGE_BYTES) - 1);
  if (chunk > last) return { content: "", more: false };
  const from = await pageEnd(source, chunk);
  const to = chunk === last ? source.total_bytes : await pageEnd(source, chunk + 1);
  return { content: text([await source.read(from, to - from)]), more: chunk < last };
}

async function pageEnd(source: Source, chunk: number): Promise<number> {
  if (chunk === 0) return 0;
  const before = (chunk - 1) * PAGE_BYTES;
  const bytes = await source.read(before, PAGE_BYTES + 1);
  const line = lastLineStart(bytes.subarray(0, PAGE_BYTES));
  return before + (line > 0 ? line : characterStart(bytes, PAGE_BYTES));
}

function text(blocks: readonly Uint8Array[]): string {
  return Buffer.concat(blocks).toString("utf8");
}
