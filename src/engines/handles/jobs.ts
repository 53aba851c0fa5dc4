import { setTimeout as sleep } from "node:timers/promises";
import type { Store } from "../../base/store/types.ts";
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
  wait(handle: string, running: () => Promise<boolean>, signal: AbortSignal): Promise<void>;
  close(): void;
}

export function createJobs(open: () => Promise<Store>, runner: string): Jobs {
  const here = new Map<string, Running>();
  let timer: NodeJS.Timeout | undefined;
  let beaten_ms = 0;
  let isPolling = false;

  /** While jobs run here: tell their progress, see who was asked to stop by another process, show that we live. */
  async function poll(): Promise<void> {
    const store = await open();
    const now = Date.now();
    for (const [handle, job] of here) {
      if (job.progress_told) continue;
      job.progress_told = true;
      await store.run("UPDATE handle SET progress = ? WHERE id = ? AND state = 'running'", job.progress, handle);
    }
    const asked = "SELECT id FROM handle WHERE runner = ? AND cancel = 1 AND state = 'running'";
    for (const { id } of await store.all<{ id: string }>(asked, runner)) {
      const job = here.get(id);
      if (job) stop(job);
    }
    if (now - beaten_ms < BEAT_MS) return;
    await store.run("UPDATE handle SET beat_ms = ? WHERE runner = ? AND state = 'running'", now, runner);
    beaten_ms = now;
  }

  /** One after the other. A store that fails for a moment is asked again at the next tick; the job itself goes on. */
  function tick(): void {
    if (isPolling) return;
    isPolling = true;
    void poll()
      .catch(() => {})
      .finally(() => {
        isPolling = false;
      });
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
      timer ??= setInterval(tick, POLL_MS).unref();
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
      while (!signal.aborted && (await running())) await sleep(POLL_MS, undefined, { signal }).catch(() => {});
    },
    close() {
      for (const job of here.values()) job.ended.resolve();
      here.clear();
      rest();
    },
  };
}
