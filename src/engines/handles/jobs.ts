import { setTimeout as sleep } from "node:timers/promises";
import type { Db } from "../../base/db.ts";
import type { HandleRow } from "./schema.ts";

const POLL_MS = 200;
const BEAT_MS = 5_000;

interface Running {
  readonly cancel: () => void;
  progress: string | null;
  progress_told: boolean;
  cancelled: boolean;
  readonly ended: PromiseWithResolvers<void>;
}

/** The jobs that run in this process, and the thread between them and their rows. */
export interface Jobs {
  started(handle: string, cancel: () => void): void;
  progress(handle: string, text: string): void;
  /** The newest progress of a job of this process; else what its row says. */
  progressOf(row: HandleRow): string | null;
  wasCancelled(handle: string): boolean;
  cancel(handle: string): void;
  ended(handle: string): void;
  /** Until the job's row is no longer running, as far as `running` can tell. */
  wait(handle: string, running: () => boolean, signal: AbortSignal): Promise<void>;
  close(): void;
}

export function createJobs(db: () => Db): Jobs {
  const here = new Map<string, Running>();
  let timer: NodeJS.Timeout | undefined;
  let beaten_ms = 0;

  /** While jobs run here: tell their progress, see who was asked to stop by another process, show that we live. */
  function poll(): void {
    try {
      const store = db();
      const now = Date.now();
      for (const [handle, job] of here) {
        if (job.progress_told) continue;
        store.run("UPDATE handle SET progress = ? WHERE id = ? AND state = 'running'", job.progress, handle);
        job.progress_told = true;
      }
      for (const [handle, job] of here) {
        if (job.cancelled) continue;
        if (store.get("SELECT 1 FROM handle WHERE id = ? AND cancel = 1", handle)) stop(job);
      }
      if (now - beaten_ms < BEAT_MS) return;
      for (const handle of here.keys()) store.run("UPDATE handle SET beat_ms = ? WHERE id = ?", now, handle);
      beaten_ms = now;
    } catch {
      // A store that fails for a moment is asked again at the next tick; the job itself goes on.
    }
  }

  function stop(job: Running): void {
    if (job.cancelled) return;
    job.cancelled = true;
    job.cancel();
  }

  function rest(): void {
    if (here.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  return {
    started(handle, cancel) {
      here.set(handle, {
        cancel,
        progress: null,
        progress_told: true,
        cancelled: false,
        ended: Promise.withResolvers(),
      });
      timer ??= setInterval(poll, POLL_MS).unref();
    },
    progress(handle, text) {
      const job = here.get(handle);
      if (!job) return;
      job.progress = text;
      job.progress_told = false;
    },
    progressOf: (row) => here.get(row.id)?.progress ?? row.progress,
    wasCancelled: (handle) => here.get(handle)?.cancelled ?? false,
    cancel(handle) {
      const job = here.get(handle);
      if (job) stop(job);
    },
    ended(handle) {
      here.get(handle)?.ended.resolve();
      here.delete(handle);
      rest();
    },
    async wait(handle, running, signal) {
      if (signal.aborted) return;
      const aborted = new Promise<void>((done) => signal.addEventListener("abort", () => done(), { once: true }));
      const job = here.get(handle);
      if (job) return Promise.race([job.ended.promise, aborted]);
      while (!signal.aborted && running()) await sleep(POLL_MS, undefined, { signal }).catch(() => {});
    },
    close() {
      for (const job of here.values()) job.ended.resolve();
      here.clear();
      rest();
    },
  };
}
