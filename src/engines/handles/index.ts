/** Results too big or too late: a durable store on SQLite, shared by all processes on the repository, that hands out unguessable ids. */
import { closeSync, constants, createReadStream, mkdirSync, openSync } from "node:fs";
import { join } from "node:path";
import { Fault } from "../../base/fault.ts";
import { unguessableId } from "../../base/ids.ts";
import { type Roots, reopen } from "../../base/path/index.ts";
import type { Principal } from "../../base/principal.ts";
import { openSqlite } from "../../base/store/sqlite.ts";
import type { Schema, Statements, Store } from "../../base/store/types.ts";
import { putAtOnce } from "./at-once.ts";
import { type Blob, blobSource, putStream, putWhole, tooLarge } from "./blobs.ts";
import { createJobs } from "./jobs.ts";
import { createLimits } from "./limits.ts";
import type { HandlesOptions } from "./options.ts";
import { type Page, pageOfBytes, pageOfLines, type Source } from "./paging.ts";
import { type FileIdentity, fileSource, identify, withFile } from "./reference.ts";
import { runs, thisRunner } from "./runner.ts";
import { HANDLES, type HandleRow, NEXT_RANK } from "./schema.ts";
import type { HandleInfo, HandleMeta, HandleState, Handles, LinePage, Payload } from "./types.ts";

export { type HandlesOptions, handlesOptions } from "./options.ts";
export { HANDLES } from "./schema.ts";
export * from "./types.ts";

interface HandlesDeps {
  readonly state_dir: string;
  /** Files kept by reference are opened through the guard each time. */
  readonly roots: Roots;
  /** Opens a part of the shared store; without it the state folder holds a file. */
  readonly openShared?: ((schema: Schema) => Promise<Store>) | undefined;
}

const ended = (store: Store) =>
  `state = ?, expires_ms = ?, progress = ?, cancel = 0, rank = ${NEXT_RANK[store.backend]}`;

export function createHandles(options: HandlesOptions, deps: HandlesDeps): Handles {
  const runner = thisRunner();
  const limits = createLimits(options, runner);
  const jobs = createJobs(store, runner);
  let opened: Promise<Store> | undefined;
  let closed = false;

  /** Opened by the first call that needs it; a store that could not be opened is tried again by the next. */
  async function store(): Promise<Store> {
    if (closed) throw new Fault("store_unavailable", "The handle store is closed.");
    opened ??= open();
    try {
      return await opened;
    } catch (error) {
      opened = undefined;
      throw error;
    }
  }

  async function open(): Promise<Store> {
    if (deps.openShared) return deps.openShared(HANDLES);
    const file = join(deps.state_dir, "handles.db");
    makePrivate(deps.state_dir, file);
    return openSqlite(file, HANDLES);
  }

  const expiry = () => Date.now() + options.ttl_s * 1000;

  async function insert(
    db: Statements,
    rank: string,
    owner: Principal,
    meta: HandleMeta,
    row: Partial<HandleRow> & { readonly state: HandleState },
  ): Promise<string> {
    const id = unguessableId("res");
    const now = Date.now();
    const sql = `INSERT INTO handle (id, owner, kind, path, root, state, bytes, blob, file, runner, beat_ms, created_ms, expires_ms, rank)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ${rank})`;
    const { kind, path = null, root = null } = meta;
    const { state, bytes = 0, blob = null, file = null, runner: by = null } = row;
    await db.run(sql, id, owner, kind, path, root, state, bytes, blob, file, by, now, now, expiry());
    return id;
  }

  /** Content goes in, and `claim` makes it the handle's in the same transaction. */
  async function keep(
    payload: Payload,
    claim: (blob: Blob, tx: Statements, store: Store) => Promise<string>,
  ): Promise<string> {
    const { max_bytes } = options;
    const db = await store();
    const bytes = typeof payload === "string" ? Buffer.from(payload) : payload;
    if (bytes instanceof Uint8Array && bytes.length > max_bytes) throw tooLarge(max_bytes);
    const handle =
      bytes instanceof Uint8Array
        ? await db.transaction(async (tx) => claim(await putWhole(tx, bytes), tx, db))
        : await putStream(db, bytes, { writer: runner, max_bytes, makeRoom: () => limits.enforce(db) }, (blob, tx) =>
            claim(blob, tx, db),
          );
    await limits.enforce(db, handle);
    return handle;
  }

  /** Another's handle, one that is gone and one that never was read the same. */
  async function find(owner: Principal, handle: string): Promise<HandleRow> {
    const db = await store();
    const now = Date.now();
    const row = await db.get<HandleRow>("SELECT * FROM handle WHERE id = ? AND owner = ?", handle, owner);
    if (!row || (row.state !== "running" && row.expires_ms <= now)) throw expired();
    if (row.state !== "running" || row.runner === runner || runs(row.runner, row.beat_ms, now)) return row;
    await db.run("UPDATE handle SET state = 'interrupted' WHERE id = ? AND state = 'running'", handle);
    return { ...row, state: "interrupted" };
  }

  async function withSource<T>(row: HandleRow, work: (source: Source) => Promise<T>): Promise<T> {
    const db = await store();
    if (row.file === null)
      return work(blobSource(db, { id: row.blob ?? -1, bytes: row.blob === null ? 0 : row.bytes }));
    const file: FileIdentity = JSON.parse(row.file);
    return withFile(deps.roots, file, (fd) => work(fileSource(db, row.id, file, row.lines, fd)));
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
    try {
      await keep(payload, async (blob, tx, db) => {
        const sql = `UPDATE handle SET ${ended(db)}, blob = ?, bytes = ? WHERE id = ? AND state = 'running'`;
        const { changes } = await tx.run(sql, state, expiry(), null, blob.id, blob.bytes, handle);
        if (changes === 0) throw expired();
        return handle;
      });
    } catch (error) {
      if (closed || (error instanceof Fault && error.code === "handle_expired")) return;
      const lost = error instanceof Fault ? failure(error) : "The result could not be kept.";
      const db = await store();
      await db.run(
        `UPDATE handle SET ${ended(db)} WHERE id = ? AND state = 'running'`,
        "failed",
        expiry(),
        lost,
        handle,
      );
      throw error;
    } finally {
      jobs.ended(handle);
    }
  }

  return {
    async put(owner, payload, meta) {
      const db = await store();
      const { kind, path = null, root = null } = meta;
      const made = { id: unguessableId("res"), owner, kind, path, root, expires_ms: expiry() };
      if (await putAtOnce(db, payload, made)) {
        await limits.enforce(db, made.id);
        return made.id;
      }
      return keep(payload, (blob, tx) =>
        insert(tx, NEXT_RANK[db.backend], owner, meta, { state: "done", blob: blob.id, bytes: blob.bytes }),
      );
    },
    async putFile(owner, file, meta) {
      const identity = identify(file);
      if (identity.size > options.inline_file_bytes) {
        const db = await store();
        const kept = { state: "done", bytes: identity.size, file: JSON.stringify(identity) } as const;
        const id = await insert(db, NEXT_RANK[db.backend], owner, meta, kept);
        await limits.enforce(db, id);
        return id;
      }
      const end = Math.max(0, identity.size - 1);
      const stream = createReadStream("", { fd: reopen(file, constants.O_RDONLY), start: 0, end });
      return keep(stream, (blob, tx, db) =>
        insert(tx, NEXT_RANK[db.backend], owner, meta, { state: "done", blob: blob.id, bytes: blob.bytes }),
      );
    },
    async info(owner, handle) {
      const row = await find(owner, handle);
      return infoOf(row, jobs.progressOf(row));
    },
    async list(owner, max) {
      const sql =
        "SELECT * FROM handle WHERE owner = ? AND (state = 'running' OR expires_ms > ?) ORDER BY rank DESC LIMIT ?";
      const rows = await (await store()).all<HandleRow>(sql, owner, Date.now(), max);
      return rows.map((row) => infoOf(row, jobs.progressOf(row)));
    },
    async readLines(owner, handle, offset_lines, max_lines, signal) {
      return page(await find(owner, handle), signal, (source) => pageOfLines(source, offset_lines, max_lines, signal));
    },
    async readChunk(owner, handle, chunk, signal) {
      return page(await find(owner, handle), signal, (source) => pageOfBytes(source, chunk));
    },
    async readBytes(owner, handle, offset, max_bytes) {
      const row = await find(owner, handle);
      const bytes = await withSource(row, (source) => source.read(offset, max_bytes));
      return { bytes, total_bytes: row.bytes, info: infoOf(row, jobs.progressOf(row)) };
    },
    async startJob(owner, meta, cancel) {
      const db = await store();
      const handle = await insert(db, NEXT_RANK[db.backend], owner, meta, { state: "running", runner });
      jobs.started(handle, cancel);
      return {
        handle,
        progress: (text) => jobs.progress(handle, text),
        done: (payload) => end(handle, "done", payload),
        failed: (fault) => end(handle, jobs.wasCancelled(handle) ? "cancelled" : "failed", failure(fault)),
      };
    },
    async wait(owner, handle, wait_s, signal) {
      if ((await find(owner, handle)).state !== "running" || wait_s <= 0) return;
      const late = new AbortController();
      const timer = setTimeout(() => late.abort(), wait_s * 1000);
      const until = AbortSignal.any([signal, late.signal]);
      const isRunning = async () => (await find(owner, handle)).state === "running";
      await jobs.wait(handle, isRunning, until).finally(() => clearTimeout(timer));
    },
    async cancel(owner, handle) {
      if ((await find(owner, handle)).state !== "running") return false;
      await (await store()).run("UPDATE handle SET cancel = 1 WHERE id = ? AND state = 'running'", handle);
      jobs.cancel(handle);
      return true;
    },
    async close() {
      if (closed) return;
      closed = true;
      jobs.close();
      const db = await opened?.catch(() => undefined);
      try {
        await db?.run("UPDATE handle SET state = 'interrupted' WHERE state = 'running' AND runner = ?", runner);
      } finally {
        await db?.close();
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
