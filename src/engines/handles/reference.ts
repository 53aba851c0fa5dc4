import { type BigIntStats, close, constants, fstatSync, read as readFd } from "node:fs";
import { promisify } from "node:util";
import { Fault } from "../../base/fault.ts";
import { type Pinned, pinFile, type Roots, reopen } from "../../base/path/index.ts";
import type { Store } from "../../base/store/types.ts";
import { afterNewline, countNewlines } from "./lines.ts";
import type { Source } from "./paging.ts";

const readAsync = promisify(readFd);
const closeAsync = promisify(close);

const SCAN_BYTES = 1024 ** 2;
/** Files up to this size are counted to their end for the total; larger ones only as far as was read. */
const COUNTED_BYTES = 64 * 1024 ** 2;

const MARK = "INSERT INTO mark (handle, newlines, byte) VALUES (?, ?, ?) ON CONFLICT DO NOTHING";

/** What a file was when it was taken. ctime too: contents written back with an old mtime are still other contents. */
export interface FileIdentity {
  readonly real: string;
  readonly dev: string;
  readonly ino: string;
  readonly mtime_ns: string;
  readonly ctime_ns: string;
  readonly size: number;
}

export function identify(pinned: Pinned): FileIdentity {
  const stat = fstatSync(pinned.fd, { bigint: true });
  return { real: pinned.real, ...facts(stat), size: Number(stat.size) };
}

/** Opens the very file that was taken, or says that it is no more, and checks again that nobody wrote while it was read. */
export async function withFile<T>(roots: Roots, file: FileIdentity, work: (fd: number) => Promise<T>): Promise<T> {
  const fd = openSame(roots, file);
  try {
    const value = await work(fd);
    if (!same(file, fstatSync(fd, { bigint: true }))) throw changed();
    return value;
  } finally {
    await closeAsync(fd);
  }
}

export function fileSource(db: Store, handle: string, file: FileIdentity, lines: number | null, fd: number): Source {
  let total = lines;
  let seen = 0;

  async function readAt(offset: number, max_bytes: number): Promise<Uint8Array> {
    const bytes = Buffer.allocUnsafe(Math.max(0, Math.min(max_bytes, file.size - offset)));
    let filled = 0;
    while (filled < bytes.length) {
      const { bytesRead } = await readAsync(fd, bytes, filled, bytes.length - filled, offset + filled);
      if (bytesRead === 0) throw changed();
      filled += bytesRead;
    }
    return bytes;
  }

  /** Counts on from the nearest mark until the wanted newline, leaving a mark at every block for the next reader. */
  async function afterNth(wanted: number, signal: AbortSignal | undefined): Promise<number | undefined> {
    const near =
      "SELECT byte, newlines FROM mark WHERE handle = ? AND newlines < ? ORDER BY newlines DESC, byte DESC LIMIT 1";
    let { byte, newlines } = (await db.get<{ byte: number; newlines: number }>(near, handle, wanted)) ?? {
      byte: 0,
      newlines: 0,
    };
    let last = 0x0a;
    while (byte < file.size) {
      signal?.throwIfAborted();
      const block = await readAt(byte, SCAN_BYTES);
      const after = afterNewline(block, wanted - newlines);
      seen = Math.max(seen, newlines + 1);
      if (after !== -1) return byte + after;
      newlines += countNewlines(block);
      byte += block.length;
      last = block.at(-1)!;
      if (byte < file.size) await db.run(MARK, handle, newlines, byte);
    }
    total = newlines + (last === 0x0a ? 0 : 1);
    await db.run("UPDATE handle SET lines = ? WHERE id = ?", total, handle);
    return undefined;
  }

  return {
    total_bytes: file.size,
    read: readAt,
    async lineStart(line, signal) {
      if (file.size === 0 || (total !== null && line >= total)) return undefined;
      const start = line === 0 ? 0 : await afterNth(line, signal);
      seen = Math.max(seen, start === undefined ? 0 : line + 1);
      return start === file.size ? undefined : start;
    },
    async lines(signal) {
      if (total === null && file.size <= COUNTED_BYTES) await afterNth(Number.MAX_SAFE_INTEGER, signal);
      return total === null ? { total: seen, is_lower_bound: true } : { total, is_lower_bound: false };
    },
  };
}

function openSame(roots: Roots, file: FileIdentity): number {
  let pinned: Pinned;
  try {
    pinned = pinFile(roots, roots.mint(file.real, "read"));
  } catch (error) {
    throw changed(error);
  }
  try {
    if (pinned.real !== file.real || !same(file, fstatSync(pinned.fd, { bigint: true }))) throw changed();
    return reopen(pinned, constants.O_RDONLY);
  } finally {
    pinned[Symbol.dispose]();
  }
}

function same(file: FileIdentity, stat: BigIntStats): boolean {
  const now = facts(stat);
  return (
    now.dev === file.dev &&
    now.ino === file.ino &&
    now.mtime_ns === file.mtime_ns &&
    now.ctime_ns === file.ctime_ns &&
    Number(stat.size) === file.size
  );
}

function facts(stat: BigIntStats) {
  return { dev: `${stat.dev}`, ino: `${stat.ino}`, mtime_ns: `${stat.mtimeNs}`, ctime_ns: `${stat.ctimeNs}` };
}

function changed(cause?: unknown): Fault {
  return new Fault("handle_expired", "The file behind this handle has changed or is gone.", {
    cause,
    hint: "Read the file again.",
  });
}
