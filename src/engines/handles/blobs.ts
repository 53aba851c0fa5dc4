import { createHash, hash } from "node:crypto";
import { setImmediate as turn } from "node:timers/promises";
import type { Db } from "../../base/db.ts";
import { Fault } from "../../base/fault.ts";
import { afterNewline, countNewlines } from "./lines.ts";
import type { Source } from "./paging.ts";
import { runs } from "./runner.ts";
import { CHUNK_BYTES } from "./schema.ts";

export interface Blob {
  readonly id: number;
  readonly bytes: number;
}

/** A stream is written this much at a time: other processes get their turn in between. */
const BATCH_BYTES = 16 * CHUNK_BYTES;
/** Chunks freed in one go. Freeing walks over every page of them, so a large blob leaves in steps. */
const FREED_AT_ONCE = 32;
/** Up to this size lines are found by looking: counting them beforehand would cost every put a fifth of its time. */
const UNCOUNTED_BYTES = 1024 ** 2;
const NO_ROOM = "larger than the handle store may be";

/** Inside a transaction: the blob with this content, made when there is none. */
export function putWhole(db: Db, data: Uint8Array): Blob {
  const sha256 = hash("sha256", data, "buffer");
  const known = bySha(db, sha256);
  if (known) return known;
  const id = newBlob(db, null);
  const isCounted = data.length > UNCOUNTED_BYTES;
  const newlines = writeChunks(db, id, 0, isCounted ? 0 : undefined, data) ?? 0;
  finish(db, id, sha256, data.length, isCounted ? lineCount(newlines, data.at(-1)) : null);
  return { id, bytes: data.length };
}

/** Streams content in with flat memory. The blob belongs to nobody until `claim` runs, in the same transaction that completes it. */
export async function putStream<T>(
  db: Db,
  stream: AsyncIterable<Uint8Array>,
  options: { readonly writer: string; readonly max_bytes: number; makeRoom(): Promise<void> },
  claim: (blob: Blob) => T,
): Promise<T> {
  const sha = createHash("sha256");
  const id = newBlob(db, options.writer);
  let bytes = 0;
  let newlines = 0;
  let last: number | undefined;
  try {
    for await (const batch of batches(stream)) {
      if (bytes + batch.length > options.max_bytes) throw tooLarge(options.max_bytes);
      sha.update(batch);
      newlines = db.transaction(() => {
        const counted = writeChunks(db, id, bytes, newlines, batch) ?? 0;
        db.run("UPDATE blob SET bytes = ?, beat_ms = ? WHERE id = ?", bytes + batch.length, Date.now(), id);
        return counted;
      });
      bytes += batch.length;
      last = batch.at(-1) ?? last;
      await options.makeRoom();
    }
    const sha256 = sha.digest();
    return db.transaction(() => {
      const known = bySha(db, sha256);
      if (known) return claim(known);
      finish(db, id, sha256, bytes, lineCount(newlines, last));
      return claim({ id, bytes });
    });
  } finally {
    // What cannot be freed now, because the store fails or was closed, is found by the next sweep.
    await freeUnowned(db, id).catch(() => {});
  }
}

/** Inside a transaction: a blob no handle holds any more stops counting. `free` takes its chunks away afterwards. */
export function release(db: Db, blob: number): boolean {
  if (db.get("SELECT 1 FROM handle WHERE blob = ? LIMIT 1", blob)) return false;
  db.run("UPDATE blob SET sha256 = NULL, writer = NULL, bytes = 0 WHERE id = ?", blob);
  return true;
}

export async function free(db: Db, blob: number): Promise<void> {
  const some = "DELETE FROM chunk WHERE id IN (SELECT id FROM chunk WHERE blob = ? LIMIT ?)";
  while (db.run(some, blob, FREED_AT_ONCE).changes === FREED_AT_ONCE) await turn();
  db.run("DELETE FROM blob WHERE id = ? AND sha256 IS NULL", blob);
}

/** Blobs that a dead process left half written or half freed. */
export async function freeAbandoned(db: Db, now: number): Promise<void> {
  const unfinished = "SELECT id, writer, beat_ms FROM blob WHERE sha256 IS NULL";
  for (const blob of db.all<{ id: number; writer: string | null; beat_ms: number }>(unfinished)) {
    if (runs(blob.writer, blob.beat_ms, now)) continue;
    db.run("UPDATE blob SET bytes = 0 WHERE id = ?", blob.id);
    await free(db, blob.id);
  }
}

export function blobSource(db: Db, blob: Blob): Source {
  async function read(offset: number, max_bytes: number): Promise<Uint8Array> {
    const first = offset - (offset % CHUNK_BYTES);
    const end = Math.min(offset + max_bytes, blob.bytes);
    if (end <= offset) return new Uint8Array(0);
    const sql = "SELECT data FROM chunk WHERE blob = ? AND byte >= ? AND byte < ? ORDER BY byte";
    const chunks = db.all<{ data: Uint8Array }>(sql, blob.id, first, end).map((row) => row.data);
    const bytes = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
    if (bytes.length < end - first) throw new Fault("handle_expired", "The handle was evicted while it was read.");
    return bytes.subarray(offset - first, end - first);
  }

  /** The chunk with the newline before this line, and how many newlines come before the chunk. */
  function chunkOf(line: number): { byte: number; newlines: number; data: Uint8Array } | undefined {
    const sql =
      "SELECT byte, newlines, data FROM chunk WHERE blob = ? AND newlines < ? ORDER BY newlines DESC, byte DESC LIMIT 1";
    return db.get(sql, blob.id, line);
  }

  async function lookFor(line: number): Promise<number> {
    let newlines = 0;
    for (let at = 0; at < blob.bytes; at += CHUNK_BYTES) {
      const chunk = await read(at, CHUNK_BYTES);
      const count = countNewlines(chunk);
      if (newlines + count >= line) return at + afterNewline(chunk, line - newlines);
      newlines += count;
    }
    return blob.bytes;
  }

  function lookUp(line: number): number {
    const chunk = chunkOf(line);
    const after = chunk ? afterNewline(chunk.data, line - chunk.newlines) : -1;
    return after === -1 ? blob.bytes : chunk!.byte + after;
  }

  return {
    total_bytes: blob.bytes,
    read,
    async lineStart(line) {
      if (blob.bytes === 0) return undefined;
      if (line === 0) return 0;
      const start = blob.bytes > UNCOUNTED_BYTES ? lookUp(line) : await lookFor(line);
      return start >= blob.bytes ? undefined : start;
    },
    async lines() {
      const known = db.get<{ lines: number | null }>("SELECT lines FROM blob WHERE id = ?", blob.id)?.lines;
      if (typeof known === "number") return { total: known, is_lower_bound: false };
      const bytes = await read(0, blob.bytes);
      return { total: lineCount(countNewlines(bytes), bytes.at(-1)), is_lower_bound: false };
    },
  };
}

function bySha(db: Db, sha256: Uint8Array): Blob | undefined {
  return db.get<{ id: number; bytes: number }>("SELECT id, bytes FROM blob WHERE sha256 = ?", sha256);
}

function newBlob(db: Db, writer: string | null): number {
  return db.get<{ id: number }>("INSERT INTO blob (writer, beat_ms) VALUES (?, ?) RETURNING id", writer, Date.now())!
    .id;
}

function finish(db: Db, id: number, sha256: Uint8Array, bytes: number, lines: number | null): void {
  db.run("UPDATE blob SET sha256 = ?, bytes = ?, lines = ?, writer = NULL WHERE id = ?", sha256, bytes, lines, id);
}

/** Gives the newlines so far, when they are counted at all. */
function writeChunks(
  db: Db,
  blob: number,
  at: number,
  newlines: number | undefined,
  data: Uint8Array,
): number | undefined {
  let count = newlines;
  for (let from = 0; from < data.length; from += CHUNK_BYTES) {
    const chunk = data.subarray(from, from + CHUNK_BYTES);
    const sql = "INSERT INTO chunk (blob, byte, newlines, data) VALUES (?, ?, ?, ?)";
    db.run(sql, blob, at + from, count ?? null, chunk);
    if (count !== undefined) count += countNewlines(chunk);
  }
  return count;
}

function lineCount(newlines: number, last: number | undefined): number {
  return newlines + (last === undefined || last === 0x0a ? 0 : 1);
}

/** Whatever pieces come, whole batches leave: all chunks but the last have the same size. */
async function* batches(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const batch = Buffer.allocUnsafe(BATCH_BYTES);
  let filled = 0;
  for await (const piece of stream) {
    for (let from = 0; from < piece.length; ) {
      const part = piece.subarray(from, from + BATCH_BYTES - filled);
      batch.set(part, filled);
      filled += part.length;
      from += part.length;
      if (filled < BATCH_BYTES) continue;
      yield batch;
      filled = 0;
    }
  }
  if (filled > 0) yield batch.subarray(0, filled);
}

async function freeUnowned(db: Db, id: number): Promise<void> {
  const row = db.get<{ sha256: Uint8Array | null }>("SELECT sha256 FROM blob WHERE id = ?", id);
  if (!row || row.sha256 !== null) return;
  db.run("UPDATE blob SET bytes = 0, writer = NULL WHERE id = ?", id);
  await free(db, id);
}

export function tooLarge(max_bytes: number): Fault {
  return new Fault("store_unavailable", `The result is ${NO_ROOM} (mcp.handles.max_bytes = ${max_bytes}).`, {
    hint: "Ask for less: a narrower path, pattern or range.",
    retryable: false,
  });
}
