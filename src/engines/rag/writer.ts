import { existsSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { Fault } from "../../base/fault.ts";
import type { IndexerOptions, Progress } from "./indexer.ts";
import type { Answer } from "./worker.ts";

/** The indexing thread, as the rest of the engine sees it. It is started by the first request and ended when it has been idle. */
export interface Writer {
  sync(progress?: (at: Progress) => void): Promise<Progress>;
  refresh(paths: readonly string[]): Promise<void>;
  /** Makes missing vectors. */
  fill(): Promise<void>;
  close(): Promise<void>;
}

interface Waiting {
  resolve(at: Progress): void;
  reject(error: Error): void;
  progress?: ((at: Progress) => void) | undefined;
}

const IDLE_MS = 60_000;

export function createWriter(options: IndexerOptions): Writer {
  const waiting = new Map<number, Waiting>();
  let worker: Worker | undefined;
  let next = 0;
  let idle: NodeJS.Timeout | undefined;
  let running: Promise<Progress> | undefined;
  let queued: Promise<Progress> | undefined;
  let isClosed = false;

  function start(): Worker {
    const started = new Worker(workerFile(), {
      workerData: options,
      resourceLimits: { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 8 },
    });
    started.unref();
    started.on("message", (answer: Answer) => {
      const one = waiting.get(answer.id);
      if (!one) return;
      if ("failed" in answer)
        settle(answer.id, () => one.reject(new Fault("store_unavailable", `Indexing failed: ${answer.failed}`)));
      else if (answer.done) settle(answer.id, () => one.resolve(answer.at));
      else one.progress?.(answer.at);
    });
    const ended = (error?: Error) => {
      if (worker === started) worker = undefined;
      for (const [id, one] of waiting)
        settle(id, () => one.reject(new Fault("store_unavailable", "The indexing thread ended.", { cause: error })));
    };
    started.on("error", ended);
    started.on("exit", () => ended());
    return started;
  }

  function settle(id: number, tell: () => void): void {
    waiting.delete(id);
    if (waiting.size === 0) {
      worker?.unref();
      idle = setTimeout(() => void stop(), IDLE_MS).unref();
    }
    tell();
  }

  function ask(
    request: { ask: "sync" | "fill" } | { ask: "refresh"; paths: readonly string[] },
    progress?: (at: Progress) => void,
  ) {
    if (isClosed) return Promise.reject(new Fault("draining", "The index is closed."));
    clearTimeout(idle);
    worker ??= start();
    // Someone waits for the answer: the process must not end before it.
    worker.ref();
    const id = next++;
    return new Promise<Progress>((resolve, reject) => {
      waiting.set(id, { resolve, reject, progress });
      worker!.postMessage({ ...request, id });
    });
  }

  /** One at a time: who asks meanwhile gets the next one, not the one under way, whose walk may have passed already. */
  function sync(progress?: (at: Progress) => void): Promise<Progress> {
    if (running) {
      queued ??= running
        .catch(() => {})
        .then(() => {
          queued = undefined;
          return sync(progress);
        });
      return queued;
    }
    running = ask({ ask: "sync" }, progress).finally(() => {
      running = undefined;
    });
    return running;
  }

  async function stop(): Promise<void> {
    clearTimeout(idle);
    const ending = worker;
    worker = undefined;
    await ending?.terminate();
  }

  return {
    sync,
    refresh: async (paths) => void (await ask({ ask: "refresh", paths })),
    fill: async () => void (await ask({ ask: "fill" })),
    async close() {
      isClosed = true;
      await stop();
    },
  };
}

/** Beside the bundle when built, beside this file when run from source. */
function workerFile(): URL {
  const built = new URL("./rag-worker.mjs", import.meta.url);
  return existsSync(built) ? built : new URL("./worker.ts", import.meta.url);
}
