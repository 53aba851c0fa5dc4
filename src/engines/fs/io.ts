import { fsync, read, readSync } from "node:fs";

/** Up to here a read from the page cache is cheaper than a trip through the thread pool. */
const SYNC_BYTES = 256 * 1024;
const STEP_BYTES = 1024 * 1024;

/** Fills the buffer from `position`; gives what was there, which is less only at the end of the file. */
export async function readInto(fd: number, target: Buffer, position: number, signal?: AbortSignal): Promise<Buffer> {
  if (target.length <= SYNC_BYTES) return readIntoSync(fd, target, position);
  let done = 0;
  while (done < target.length) {
    signal?.throwIfAborted();
    const step = Math.min(STEP_BYTES, target.length - done);
    const count = await readOnce(fd, target, done, step, position + done);
    if (count === 0) break;
    done += count;
  }
  return target.subarray(0, done);
}

export function readIntoSync(fd: number, target: Buffer, position: number): Buffer {
  let done = 0;
  while (done < target.length) {
    const count = readSync(fd, target, done, target.length - done, position + done);
    if (count === 0) break;
    done += count;
  }
  return target.subarray(0, done);
}

function readOnce(fd: number, target: Buffer, offset: number, length: number, position: number): Promise<number> {
  return new Promise((resolve, reject) => {
    read(fd, target, offset, length, position, (error, count) => (error ? reject(error) : resolve(count)));
  });
}

/** Waits for the disk outside the event loop: other calls go on meanwhile. */
export function synced(fd: number): Promise<void> {
  return new Promise((resolve, reject) => {
    fsync(fd, (error) => (error ? reject(error) : resolve()));
  });
}

/** The length without a character that the end of the slice cut in two. */
export function wholeCharacters(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back]!;
    if (byte < 0x80) return bytes.length;
    if (byte < 0xc0) continue;
    const width = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    return width > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}
