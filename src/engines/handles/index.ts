/** Results too big or too late: a durable store on SQLite, shared by all processes on the repository, that hands out unguessable ids. */
import { closeSync, constants, createReadStream, mkdirSync, openSync } from "node:fs";
import { join } from "node:path";
import { type Db, openDb } from "../../base/db.ts";
import { Fault } from "../../base/fault.ts";
import { unguessableId } from "../../base/ids.ts";
import { type Roots, reopen } from "../../base/path/index.ts";
import type { Principal } from "../../base/principal.ts";
import { type Blob, blobSource, putStream, putWhole, tooLarge } from "./blobs.ts";
import { createJobs } from "./jobs.ts";
import { createLimits } from "./limits.ts";
import type { HandlesOptions } from "./options.ts";
import { type Page, pageOfBytes, pageOfLines, type Source } from "./paging.ts";
import { type FileIdentity, fileSource, identify, withFile } from "./reference.ts";
import { runs, thisRunner } from "./runner.ts";
import { type HandleRow, MIGRATIONS, NEXT_RANK } from "./schema.ts";
import type { HandleInfo, HandleMeta, HandleState, Handles, LinePage, Payload } from "./types.ts";

export { type HandlesOptions, handlesOptions } from "./options.ts";
export * from "./types.ts";

interface HandlesDeps {
  readonly state_dir: string;
  /** Files kept by reference are opened through the guard each time. */
  readonly roots: Roots;
}

const ENDED = `state = ?, expires_ms = ?, progress = ?, cancel = 0, rank = ${NEXT_RANK}`;

export function createHandles(options: HandlesOptions, deps: HandlesDeps): Handles {
  const runner = thisRunner();
  const limits = createLimits(options, runner);
  const jobs = createJobs(store);
  let db: Db | undefined;
  let closed = false;

  /** Opened by the first call that needs it; a store that could not be opened is tried again by the next. */
  function store(): Db {
    if (closed) throw new Fault("store_unavailable", "The handle store is closed.");
    if (db) return db;
    const file = join(deps.state_dir, "handles.db");
    makePrivate(deps.state_dir, file);
    db = openDb(file, { migrations: MIGRATIONS });
    return db;
  }

  const expiry = () => Date.now() + options.ttl_s * 1000;

  function insert(
    owner: Principal,
    meta: HandleMeta,
    row: Partial<HandleRow> & { readonly state: HandleState },
  ): string {
    const id = unguessableId("res");
    const now = Date.now();
    const sql = `INSERT INTO handle (id, owner, kind, path, root, state, bytes, blob, file, runner, beat_ms, created_ms, expires_ms, rank)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ${NEXT_RANK})`;
    const from = [
      id,
      owner,
      meta.kind,
      meta.path ?? null,
      meta.root ?? null,
      row.state,
      row.bytes ?? 0,
      row.blob ?? null,
    ] as const;
    store().run(sql, ...from, row.file ?? null, row.runner ?? null, now, now, expiry());
    return id;
  }

  /** Content goes in, and `claim` makes it the handle's in the same transaction. */
  async function keep(payload: Payload, claim: (blob: Blob) => string): Promise<string> {
    const { max_bytes } = options;
    const bytes = typeof payload === "string" ? Buffer.from(payload) : payload;
    if (bytes instanceof Uint8Array && bytes.length > max_bytes) throw tooLarge(max_bytes);
    const handle =
      bytes instanceof Uint8Array
        ? store().transaction(() => claim(putWhole(store(), bytes)))
        : await putStream(
            store(),
            bytes,
            { writer: runner, max_bytes, makeRoom: () => limits.enforce(store()) },
            claim,
          );
    await limits.enforce(store(), handle);
    return handle;
  }

  /** Another's handle, one that is gone and one that never was read the same. */
  function find(owner: Principal, handle: string): HandleRow {
    const now = Date.now();
    const row = store().get<HandleRow>("SELECT * FROM handle WHERE id = ? AND owner = ?", handle, owner);
    if (!row || (row.state !== "running" && row.expires_ms <= now)) throw expired();
    if (row.state !== "running" || row.runner === runner || runs(row.runner, row.beat_ms, now)) return row;
    store().run("UPDATE handle SET state = 'interrupted' WHERE id = ? AND state = 'running'", handle);
    return { ...row, state: "interrupted" };
  }

  function withSource<T>(row: HandleRow, work: (source: Source) => Promise<T>): Promise<T> {
    if (row.file === null)
      return work(blobSource(store(), { id: row.blob ?? -1, bytes: row.blob === null ? 0 : row.bytes }));
    const file: FileIdentity = JSON.parse(row.file);
    return withFile(deps.roots, file, (fd) => work(fileSource(store(), row.id, file, row.lines, fd)));
  }

  async function page(
    row: HandleRow,
    signal: AbortSignal | undefined,
    cut: (source: Source) => Promise<Page>,
  ): Promise<LinePage> {
    const meta = { kind: row.kind, state: row.state, progress: jobs.progressOf(row) };
    return withSource(row, async (source) => {
      const { content, more, ...next } = await cut(source);
      const lines = await source.lines(signal);
      const bound = lines.is_lower_bound ? { total_lines_is_lower_bound: true as const } : {};
      return { content, meta: { ...meta, total_lines: lines.total, ...bound, truncated: more, ...next } };
    });
  }

  /** A job ends once: what comes after it was interrupted, evicted or ended is dropped. */
  async function end(handle: string, state: HandleState, payload: Payload): Promise<void> {
    const sql = `UPDATE handle SET ${ENDED}, blob = ?, bytes = ? WHERE id = ? AND state = 'running'`;
    try {
      await keep(payload, (blob) => {
        if (store().run(sql, state, expiry(), null, blob.id, blob.bytes, handle).changes === 0) throw expired();
        return handle;
      });
    } catch (error) {
      if (closed || (error instanceof Fault && error.code === "handle_expired")) return;
      const lost = error instanceof Fault ? failure(error) : "The result could not be kept.";
      store().run(`UPDATE handle SET ${ENDED} WHERE id = ? AND state = 'running'`, "failed", expiry(), lost, handle);
      throw error;
    } finally {
      jobs.ended(handle);
    }
  }

  return {
    put: (owner, payload, meta) =>
      keep(payload, (blob) => insert(owner, meta, { state: "done", blob: blob.id, bytes: blob.bytes })),
    async putFile(owner, file, meta) {
      const identity = identify(file);
      if (identity.size > options.inline_file_bytes) {
        const id = insert(owner, meta, { state: "done", bytes: identity.size, file: JSON.stringify(identity) });
        await limits.enforce(store(), id);
        return id;
      }
      const end = Math.max(0, identity.size - 1);
      const stream = createReadStream("", { fd: reopen(file, constants.O_RDONLY), start: 0, end });
      return keep(stream, (blob) => insert(owner, meta, { state: "done", blob: blob.id, bytes: blob.bytes }));
    },
    async info(owner, handle) {
      const row = find(owner, handle);
      return infoOf(row, jobs.progressOf(row));
    },
    async list(owner, max) {
      const sql =
        "SELECT * FROM handle WHERE owner = ? AND (state = 'running' OR expires_ms > ?) ORDER BY rank DESC LIMIT ?";
      const rows = store().all<HandleRow>(sql, owner, Date.now(), max);
      return rows.map((row) => infoOf(row, jobs.progressOf(row)));
    },
    async readLines(owner, handle, offset_lines, max_lines, signal) {
      return page(find(owner, handle), signal, (source) => pageOfLines(source, offset_lines, max_lines, signal));
    },
    async readChunk(owner, handle, chunk, signal) {
      return page(find(owner, handle), signal, (source) => pageOfBytes(source, chunk));
    },
    async readBytes(owner, handle, offset, max_bytes) {
      const row = find(owner, handle);
      const bytes = await withSource(row, (source) => source.read(offset, max_bytes));
      return { bytes, total_bytes: row.bytes, info: infoOf(row, jobs.progressOf(row)) };
    },
    async startJob(owner, meta, cancel) {
      const handle = insert(owner, meta, { state: "running", runner });
      jobs.started(handle, cancel);
      return {
        handle,
        progress: (text) => jobs.progress(handle, text),
        done: (payload) => end(handle, "done", payload),
        failed: (fault) => end(handle, jobs.wasCancelled(handle) ? "cancelled" : "failed", failure(fault)),
      };
    },
    async wait(owner, handle, wait_s, signal) {
      if (find(owner, handle).state !== "running" || wait_s <= 0) return;
      const late = new AbortController();
      const timer = setTimeout(() => late.abort(), wait_s * 1000);
      const until = AbortSignal.any([signal, late.signal]);
      await jobs.wait(handle, () => find(owner, handle).state === "running", until).finally(() => clearTimeout(timer));
    },
    async cancel(owner, handle) {
      if (find(owner, handle).state !== "running") return false;
      store().run("UPDATE handle SET cancel = 1 WHERE id = ? AND state = 'running'", handle);
      jobs.cancel(handle);
      return true;
    },
    async close() {
      if (closed) return;
      try {
        db?.run("UPDATE handle SET state = 'interrupted' WHERE state = 'running' AND runner = ?", runner);
      } finally {
        closed = true;
        jobs.close();
        db?.close();
      }
    },
  };
}

/** SQLite gives its side files the mode of the database. If this fails, opening it says why. */
function makePrivate(folder: string, file: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    closeSync(openSync(file, constants.O_CREAT | constants.O_RDWR, 0o600));
  } catch {}
}

function infoOf(row: HandleRow, progress: string | null): HandleInfo {
  return {
    handle: row.id,
    kind: row.kind,
    ...(row.path === null ? {} : { path: row.path }),
    ...(row.root === null ? {} : { root: row.root }),
    state: row.state,
    progress,
    bytes: row.bytes,
    created_at: new Date(row.created_ms).toISOString(),
    expires_at: new Date(row.expires_ms).toISOString(),
  };
}

function failure(fault: Fault): string {
  return `${fault.code}: ${fault.message}${fault.hint === undefined ? "" : `\n${fault.hint}`}`;
}

function expired(): Fault {
  return new Fault("handle_expired", "There is no such handle, or it has expired.", { hint: "Run the call again." });
}
