import { closeSync, fstatSync, readFileSync } from "node:fs";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { Fault } from "../../base/fault.ts";
import { createRoots, pinFile, type RootsOptions, reopen } from "../../base/path/index.ts";
import { type Skip, skipByContent } from "./admit.ts";
import type { EmbedderInput } from "./embed/index.ts";
import { fact, giveTurn, headOf, setFact, takeTurn } from "./facts.ts";
import { fillVectors } from "./fill.ts";
import { createRules } from "./ignored.ts";
import { languageOf } from "./languages.ts";
import type { RagOptions } from "./options.ts";
import { createParser } from "./parse.ts";
import { openShared } from "./shared.ts";
import { type FileRow, hashOf, openStore, type Prepared, prepare, put, putSkipped, remove } from "./store.ts";
import { createSplitter } from "./terms.ts";
import { lookAt, type Seen, walk, wouldMeet } from "./walk.ts";
import { sharedFile } from "./worktree.ts";

export interface IndexerOptions {
  readonly root: string;
  readonly file: string;
  readonly state_dir: string;
  readonly guard: RootsOptions;
  readonly rag: RagOptions;
  readonly embed: EmbedderInput;
}

export interface Progress {
  readonly done: number;
  readonly total: number;
  readonly bytes: number;
  /** Files that another working tree of the repository had parsed already. */
  readonly shared?: number;
}

export interface Indexer {
  /** Brings all of the index up to date, or waits for the process that does. */
  sync(progress: (at: Progress) => void): Promise<Progress>;
  /** Brings these up to date, whether they are files, folders or gone. */
  refresh(paths: readonly string[]): Promise<void>;
  /** Makes the vectors that are missing. */
  fill(): Promise<void>;
  close(): void;
}

type Outcome =
  | (Prepared & { readonly isShared?: true })
  | { readonly path: string; readonly gone: true }
  | (Seen & { readonly skip: Skip })
  | (Seen & { readonly same: true });

const BATCH_MS = 150;
const WAIT_MS = 100;

export function createIndexer(options: IndexerOptions): Indexer {
  const { root, rag } = options;
  const db = openStore(options.file);
  const common = sharedFile(root, options.state_dir);
  const shared = common === undefined ? undefined : openShared(common);
  /** What was taken from there since the last look at the tree. */
  let taken = 0;
  const roots = createRoots(options.guard);
  const parser = createParser();
  const splitter = createSplitter();
  let isClosed = false;
  let hasTurn = false;

  /** The file as it is now. It is read by descriptor: what was judged is what is read. */
  async function look(seen: Seen): Promise<Outcome> {
    let bytes: Buffer;
    let changed_ms: number;
    try {
      using pinned = pinFile(roots, roots.mint(seen.path, "read", root));
      if (pinned.real !== `${root === "/" ? "" : root}/${seen.path}`) return { ...seen, skip: "unreadable" };
      if (pinned.stat.size > rag.max_file_bytes) return { ...seen, skip: "too large" };
      const fd = reopen(pinned);
      try {
        changed_ms = fstatSync(fd).ctimeMs;
        bytes = readFileSync(fd);
      } finally {
        closeSync(fd);
      }
    } catch (error) {
      if (error instanceof Fault && error.code === "file_not_found") return { path: seen.path, gone: true };
      return { ...seen, skip: "unreadable" };
    }
    if (bytes.length > rag.max_file_bytes) return { ...seen, skip: "too large" };
    const hash = hashOf(bytes);
    if (rowOf(seen.path)?.hash === hash) return { path: seen.path, size: bytes.length, changed_ms, same: true };
    const skip = skipByContent(bytes);
    if (skip) return { ...seen, changed_ms, skip };
    const ready = shared?.find(seen.path, hash);
    if (!ready) return prepare(seen.path, bytes, changed_ms, parser, splitter);
    taken++;
    return { ...ready, changed_ms, isShared: true };
  }

  function rowOf(path: string): FileRow | undefined {
    return db.get<FileRow>("SELECT id, path, hash, size, changed_ms FROM files WHERE path = ?", path);
  }

  function store(outcomes: readonly Outcome[]): void {
    db.transaction(() => {
      for (const one of outcomes) {
        if ("gone" in one) remove(db, one.path);
        else if ("skip" in one) putSkipped(db, one.path, one.size, one.changed_ms, one.skip);
        else if ("same" in one)
          db.run("UPDATE files SET changed_ms = ?, size = ? WHERE path = ?", one.changed_ms, one.size, one.path);
        else put(db, one, splitter);
      }
    });
    shared?.keep(outcomes.filter((one) => "chunked" in one && !one.isShared) as Prepared[]);
  }

  /** Looks at files and stores them in batches: what is stored stays, whatever happens to this process. */
  async function take(files: readonly Seen[], each: (bytes: number, done: number) => void): Promise<void> {
    let batch: Outcome[] = [];
    let since = performance.now();
    for (const [index, seen] of files.entries()) {
      if (isClosed) return;
      batch.push(await look(seen));
      if (performance.now() - since < BATCH_MS && index + 1 < files.length) continue;
      store(batch);
      each(
        batch.reduce((sum, one) => sum + ("size" in one ? one.size : 0), 0),
        index + 1,
      );
      batch = [];
      await nextTurn();
      since = performance.now();
    }
  }

  const scene = async () => ({ root, state_dir: options.state_dir, rules: await createRules(root, rag.exclude) });

  async function everything(progress: (at: Progress) => void): Promise<Progress> {
    const head = headOf(root);
    const known = new Map<string, FileRow>();
    for (const row of db.iterate<FileRow>("SELECT path, size, changed_ms FROM files")) known.set(row.path, row);
    const changed: Seen[] = [];
    let total = 0;
    taken = 0;
    for (const seen of walk(await scene())) {
      if (++total % 500 === 0) await nextTurn();
      const row = known.get(seen.path);
      known.delete(seen.path);
      if (!row || row.size !== seen.size || row.changed_ms !== seen.changed_ms) changed.push(seen);
    }
    setFact(db, "total", String(total));
    if (changed.length > 0) setFact(db, "phase", "indexing");
    store([...known.keys()].map((path) => ({ path, gone: true })));
    // What can be parsed comes first: it is what is asked for.
    changed.sort((a, b) => rankOf(a) - rankOf(b));
    let bytes = 0;
    let heard = Date.now();
    await take(changed, (size, done) => {
      bytes += size;
      progress({ done: total - changed.length + done, total, bytes });
      if (Date.now() - heard < 1_000) return;
      heard = Date.now();
      takeTurn(db);
    });
    if (!isClosed) finished(head);
    return { done: total, total, bytes, ...(shared ? { shared: taken } : {}) };
  }

  function finished(head: string | undefined): void {
    db.transaction(() => {
      setFact(db, "head", head);
      setFact(db, "synced_at", new Date().toISOString());
      setFact(db, "phase", "ready");
      setFact(db, "last_error", undefined);
    });
  }

  /** Files and folders that an event or a search pointed at. */
  async function some(paths: readonly string[]): Promise<void> {
    const at = await scene();
    const found: Seen[] = [];
    const gone: string[] = [];
    for (const path of new Set(paths)) {
      const seen = lookAt(root, path);
      if (seen && wouldMeet(at, path, false)) found.push(seen);
      else {
        gone.push(path, ...below(path));
        if (!seen && wouldMeet(at, path, true)) found.push(...walk(at, path));
      }
    }
    const kept = new Set(found.map(({ path }) => path));
    store(gone.filter((path) => !kept.has(path)).map((path) => ({ path, gone: true })));
    await take(found, () => {});
  }

  function below(path: string): string[] {
    const rows = db.all<{ path: string }>(
      "SELECT path FROM files WHERE path >= ? AND path < ?",
      `${path}/`,
      `${path}0`,
    );
    return rows.map((row) => row.path);
  }

  async function guarded<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!isClosed) setFact(db, "last_error", error instanceof Error ? error.message.slice(0, 300) : "unknown");
      throw error;
    }
  }

  return {
    async sync(progress) {
      while (!takeTurn(db)) {
        if (isClosed) return { done: 0, total: 0, bytes: 0 };
        progress({
          done: db.get<{ n: number }>("SELECT count(*) AS n FROM files")!.n,
          total: Number(fact(db, "total") ?? 0),
          bytes: 0,
        });
        await sleep(WAIT_MS);
      }
      hasTurn = true;
      try {
        return await guarded(() => everything(progress));
      } finally {
        hasTurn = false;
        if (!isClosed) giveTurn(db);
      }
    },
    fill: () => fillVectors({ db, shared, roots, root, rag, embed: options.embed, isClosed: () => isClosed }),
    refresh: (paths) => guarded(() => some(paths)),
    close() {
      if (hasTurn) giveTurn(db);
      isClosed = true;
      shared?.close();
      db.close();
    },
  };
}

function rankOf({ path }: Seen): number {
  return languageOf(path).grammar === undefined ? 1 : 0;
}
