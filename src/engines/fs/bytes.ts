import { isUtf8 } from "node:buffer";
import { closeSync } from "node:fs";
import { type Pinned, reopen } from "../../base/path/index.ts";
import { readInto, wholeCharacters } from "./io.ts";

/** No single slice is larger, whatever was asked for. */
const MAX_SLICE_BYTES = 64 * 1024 * 1024;

export interface ByteSlice {
  readonly text: string;
  /** Bytes of the file that `text` stands for: the next slice begins at `offset + length`. */
  readonly length: number;
  readonly total_bytes: number;
  /** More follows. */
  readonly truncated: boolean;
  /** Some bytes are not UTF-8 and are shown as U+FFFD. */
  readonly replaced: boolean;
}

/** A slice that never splits a character of valid text at its end. */
export async function readBytes(
  file: Pinned,
  offset: number,
  max_bytes: number,
  signal?: AbortSignal,
): Promise<ByteSlice> {
  const total_bytes = file.stat.size;
  const wanted = Math.max(0, Math.min(max_bytes, MAX_SLICE_BYTES, total_bytes - offset));
  const fd = reopen(file);
  try {
    const read = await readInto(fd, Buffer.allocUnsafe(wanted), offset, signal);
    const isEnd = offset + read.length >= total_bytes;
    const whole = isEnd ? read.length : wholeCharacters(read);
    // A slice shorter than its first character would never get on: then the bytes go out as they are.
    const bytes = read.subarray(0, whole === 0 ? read.length : whole);
    return {
      text: bytes.toString("utf8"),
      length: bytes.length,
      total_bytes,
      truncated: offset + bytes.length < total_bytes,
      replaced: !isUtf8(bytes),
    };
  } finally {
    closeSync(fd);
  }
}

export async function readWhole(file: Pinned, signal?: AbortSignal): Promise<Buffer> {
  const fd = reopen(file);
  try {
    return await readInto(fd, Buffer.allocUnsafe(file.stat.size), 0, signal);
  } finally {
    closeSync(fd);
  }
}
