import { dirname } from "node:path";
import type { Db } from "../../base/db.ts";
import { fact, headOf } from "./facts.ts";
import type { Progress } from "./indexer.ts";
import { createWatcher, type Watcher } from "./watch.ts";
import type { Writer } from "./writer.ts";

/** Keeps the index in step with the tree while it is in use. */
export interface Freshness {
  /** Waits, a little or patiently, until what is known to have changed is indexed. False when it was not. */
  settle(signal: AbortSignal, patient?: boolean): Promise<boolean>;
  refresh(paths: readonly string[]): Promise<void>;
  sync(progress?: (at: Progress) => void): Promise<Progress>;
  readonly watching: boolean;
  readonly isBehind: boolean;
  close(): void;
}

/** How long a search waits for the first indexing, for a branch that was switched, and for a look at the tree. */
const FIRST_MS = 5_000;
const SWITCH_MS = 2_000;
const LOOK_MS = 500;
/** Without a watcher the tree is walked again when the last walk is older than this. */
const OLD_MS = 1_000;
/** Beyond this many events a walk is cheaper. */
const MANY = 400;

export function createFreshness(
  root: string,
  db: Db,
  writer: Writer,
  wantsWatch: boolean,
  indexed: () => void,
): Freshness {
  let watcher: Watcher | undefined;
  let syncing: Promise<unknown> | undefined;
  let pending: Promise<unknown> | undefined;
  let synced_ms = 0;
  let failed = false;

  function sync(progress?: (at: Progress) => void): Promise<Progress> {
    const started = performance.now();
    const work = writer.sync(progress).then((at) => {
      synced_ms = started;
      failed = false;
      watchAll();
      indexed();
      return at;
    });
    const settled = work.then(
      () => {},
      () => {
        failed = true;
      },
    );
    syncing = settled;
    void settled.then(() => {
      if (syncing === settled) syncing = undefined;
    });
    return work;
  }

  function watchAll(): void {
    if (!wantsWatch) return;
    const isFirst = watcher === undefined;
    watcher ??= createWatcher(root, (paths) => void changed(paths));
    const folders = new Set<string>([""]);
    for (const { path } of db.iterate<{ path: string }>("SELECT path FROM files"))
      for (let at = dirname(path); at !== "." && !folders.has(at); at = dirname(at)) folders.add(at);
    watcher.add(folders);
    // What was saved between the walk and the watching is found by one more walk.
    if (isFirst) void sync().catch(() => {});
  }

  function changed(paths: readonly string[]): void {
    const rules = paths.some((path) => /(^|\/)\.(git|rag)ignore$/.test(path));
    const relevant = paths.filter((path) => !/^\.(git|llmc)(\/|$)/.test(path));
    if (relevant.length === 0) return;
    if (rules || relevant.length > MANY) void sync().catch(() => {});
    else void refresh(relevant).then(watchNew, () => {});
  }

  /** Folders that appeared. */
  function watchNew(): void {
    if (watcher) watchAll();
  }

  async function refresh(paths: readonly string[]): Promise<void> {
    const work = writer.refresh(paths);
    const settled = work.catch(() => {
      failed = true;
    });
    pending = settled;
    void settled.then(() => {
      if (pending === settled) pending = undefined;
    });
    await work;
    indexed();
  }

  return {
    sync,
    refresh,
    get watching() {
      return watcher?.isWhole === true;
    },
    get isBehind() {
      return failed || syncing !== undefined || pending !== undefined;
    },
    async settle(signal, patient = false) {
      const isNew = fact(db, "synced_at") === undefined;
      const isSwitched = !isNew && fact(db, "head") !== headOf(root);
      const isOld = watcher?.isWhole !== true && performance.now() - synced_ms > OLD_MS;
      if ((synced_ms === 0 || isSwitched || isOld) && !syncing) void sync().catch(() => {});
      const wait = isNew || patient ? FIRST_MS : isSwitched || synced_ms === 0 ? SWITCH_MS : LOOK_MS;
      // A walk that only makes sure is not waited for when events are heard anyway.
      const first = isNew || isSwitched || isOld ? syncing : undefined;
      return await within(Promise.all([first, pending]), wait, signal);
    },
    close: () => watcher?.close(),
  };
}

async function within(work: Promise<unknown>, ms: number, signal: AbortSignal): Promise<boolean> {
  signal.throwIfAborted();
  let timer: NodeJS.Timeout | undefined;
  let stop: (() => void) | undefined;
  const late = new Promise<false>((resolve) => {
    stop = () => resolve(false);
    timer = setTimeout(stop, ms);
    signal.addEventListener("abort", stop, { once: true });
  });
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", stop!);
    signal.throwIfAborted();
  }
}
