import { createHash, hash } from "node:crypto";
import { setImmediate as turn } from "node:timers/promises";
import { Fault } from "../../base/fault.ts";
import type { SqlValue, Statements, Store } from "../../base/store/types.ts";
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
export async function putWhole(db: Statements, data: Uint8Array): Promise<Blob> {
  const sha256 = hash("sha256", data, "buffer");
  const isCounted = data.length > UNCOUNTED_BYTES;
  const lines = isCounted ? lineCount(countNewlines(data), data.at(-1)) : null;
  const insert =
    "INSERT INTO blob (sha256, bytes, lines, beat_ms) VALUES (?, ?, ?, ?) ON CONFLICT (sha256) DO NOTHING RETURNING id";
  const made = await db.get<{ id: number }>(insert, sha256, data.length, lines, Date.now());
  if (!made) return (await bySha(db, sha256))!;
  await writeChunks(db, made.id, 0, isCounted ? 0 : undefined, data);
  return { id: made.id, bytes: data.length };
}

/** Streams content in with flat memory. The blob belongs to nobody until `claim` runs, in the same transaction that completes it. */
export async function putStream<T>(
  db: Store,
  stream: AsyncIterable<Uint8Array>,
  options: { readonly writer: string; readonly max_bytes: number; makeRoom(): Promise<void> },
  claim: (blob: Blob, tx: Statements) => Promise<T>,
): Promise<T> {
  const sha = createHash("sha256");
  const id = await newBlob(db, options.writer);
  let bytes = 0;
  let newlines = 0;
  let last: number | undefined;
  try {
    for await (const batch of batches(stream)) {
      if (bytes + batch.length > options.max_bytes) throw tooLarge(options.max_bytes);
      sha.update(batch);
      newlines = await db.transaction(async (tx) => {
        const counted = (await writeChunks(tx, id, bytes, newlines, batch)) ?? 0;
        await tx.run("UPDATE blob SET bytes = ?, beat_ms = ? WHERE id = ?", bytes + batch.length, Date.now(), id);
        return counted;
      });
      bytes += batch.length;
      last = batch.at(-1) ?? last;
      await options.makeRoom();
    }
    const sha256 = sha.digest();
    return await db.transaction(async (tx) => {
      const known = await bySha(tx, sha256);
      if (known) return claim(known, tx);
      await finish(tx, id, sha256, bytes, lineCount(newlines, last));
      return claim({ id, bytes }, tx);
    });
  } finally {
    // What cannot be freed now, because the store fails or was closed, is found by the next sweep.
    await freeUnowned(db, id).catch(() => {});
  }
}

/** Inside a transaction: a blob no handle holds any more stops counting. `free` takes its chunks away afterwards. */
export async function release(db: Statements, blob: number): Promise<boolean> {
  if (await db.get("SELECT 1 FROM handle WHERE blob = ? LIMIT 1", blob)) return false;
  await db.run("UPDATE blob SET sha256 = NULL, writer = NULL, bytes = 0 WHERE id = ?", blob);
  return true;
}

export async function free(db: Store, blob: number): Promise<void> {
  const some = "DELETE FROM chunk WHERE id IN (SELECT id FROM chunk WHERE blob = ? LIMIT ?)";
  while ((await db.run(some, blob, FREED_AT_ONCE)).changes === FREED_AT_ONCE) await turn();
  await db.run("DELETE FROM blob WHERE id = ? AND sha256 IS NULL", blob);
}

/** Blobs that a dead process left half written or half freed. */
export async function freeAbandoned(db: Store, now: number): Promise<void> {
  const unfinished = "SELECT id, writer, beat_ms FROM blob WHERE sha256 IS NULL";
  for (const blob of await db.all<{ id: number; writer: string | null; beat_ms: number }>(unfinished)) {
    if (runs(blob.writer, blob.beat_ms, now)) continue;
    await db.run("UPDATE blob SET bytes = 0 WHERE id = ?", blob.id);
    await free(db, blob.id);
  }
}

export function blobSource(db: Store, blob: Blob): Source {
  async function read(offset: number, max_bytes: number): Promise<Uint8Array> {
    const first = offset - (offset % CHUNK_BYTES);
    const end = Math.min(offset + max_bytes, blob.bytes);
    if (end <= offset) return new Uint8Array(0);
    const sql = "SELECT data FROM chunk WHERE blob = ? AND byte >= ? AND byte < ? ORDER BY byte";
    const rows = await db.all<{ data: Uint8Array }>(sql, blob.id, first, end);
    const chunks = rows.map((row) => row.data);
    const bytes = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
    if (bytes.length < end - first) throw new Fault("handle_expired", "The handle was evicted while it was read.");
    return bytes.subarray(offset - first, end - first);
  }

  /** The chunk with the newline before this line, and how many newlines come before the chunk. */
  function chunkOf(line: number): Promise<{ byte: number; newlines: number; data: Uint8Array } | undefined> {
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

  async function lookUp(line: number): Promise<number> {
    const chunk = await chunkOf(line);
    const after = chunk ? afterNewline(chunk.data, line - chunk.newlines) : -1;
    return after === -1 ? blob.bytes : chunk!.byte + after;
  }

  return {
    total_bytes: blob.bytes,
    read,
    async lineStart(line) {
      if (blob.bytes === 0) return undefined;
      if (line === 0) return 0;
      const start = await (blob.bytes > UNCOUNTED_BYTES ? lookUp(line) : lookFor(line));
      return start >= blob.bytes ? undefined : start;
    },
    async lines() {
      const known = (await db.get<{ lines: number | null }>("SELECT lines FROM blob WHERE id = ?", blob.id))?.lines;
      if (typeof known === "number") return { total: known, is_lower_bound: false };
      const bytes = await read(0, blob.bytes);
      return { total: lineCount(countNewlines(bytes), bytes.at(-1)), is_lower_bound: false };
    },
  };
}

function bySha(db: Statements, sha256: Uint8Array): Promise<Blob | undefined> {
  return db.get<{ id: number; bytes: number }>("SELECT id, bytes FROM blob WHERE sha256 = ?", sha256);
}

async function newBlob(db: Statements, writer: string | null): Promise<number> {
  const sql = "INSERT INTO blob (writer, beat_ms) VALUES (?, ?) RETURNING id";
  return (await db.get<{ id: number }>(sql, writer, Date.now()))!.id;
}

async function finish(
  db: Statements,
  id: number,
  sha256: Uint8Array,
  bytes: number,
  lines: number | null,
): Promise<void> {
  await db.run(
    "UPDATE blob SET sha256 = ?, bytes = ?, lines = ?, writer = NULL WHERE id = ?",
    sha256,
    bytes,
    lines,
    id,
  );
}

/** Gives the newlines so far, when they are counted at all. */
async function writeChunks(
  db: Statements,
  blob: number,
  at: number,
  newlines: number | undefined,
  data: Uint8Array,
): Promise<number | undefined> {
  let count = newlines;
  for (let batch = 0; batch < data.length; batch += BATCH_BYTES) {
    const end = Math.min(data.length, batch + BATCH_BYTES);
    const rows: SqlValue[][] = [];
    for (let from = batch; from < end; from += CHUNK_BYTES) {
      const chunk = data.subarray(from, from + CHUNK_BYTES);
      rows.push([blob, at + from, count ?? null, chunk]);
      if (count !== undefined) count += countNewlines(chunk);
    }
    const marks = rows.map(() => "(?, ?, ?, ?)").join(", ");
    await db.run(`INSERT INTO chunk (blob, byte, newlines, data) VALUES ${marks}`, ...rows.flat());
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

async function freeUnowned(db: Store, id: number): Promise<void> {
  const row = await db.get<{ sha256: Uint8Array | null }>("SELECT sha256 FROM blob WHERE id = ?", id);
  if (!row || row.sha256 !== null) return;
  await db.run("UPDATE blob SET bytes = 0, writer = NULL WHERE id = ?", id);
  await free(db, id);
}

export function tooLarge(max_bytes: number): Fault {
  return new Fault("store_unavailable", `The result is ${NO_ROOM} (mcp.handles.max_bytes = ${max_bytes}).`, {
    hint: "Ask for less: a narrower path, pattern or range.",
    retryable: false,
  });
}
