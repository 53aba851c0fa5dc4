import { existsSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { Fault } from "../../../base/fault.ts";
import type { OutlineAnswer, OutlineEntry, OutlineRequest } from "./worker.ts";

/** The definitions of a text that is in no index. Parsed in a thread of its own, which ends with the signal: no call waits behind a parse. */
export async function outlineOf(text: string, hint: string, signal: AbortSignal): Promise<readonly OutlineEntry[]> {
  signal.throwIfAborted();
  const request: OutlineRequest = { text, hint };
  const worker = new Worker(workerFile(), {
    workerData: request,
    resourceLimits: { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 8 },
  });
  const stop = () => void worker.terminate();
  signal.addEventListener("abort", stop, { once: true });
  try {
    return await new Promise((resolve, reject) => {
      worker.once("message", (answer: OutlineAnswer) => resolve(answer.entries));
      worker.once("error", (cause) => reject(new Fault("internal_error", "The text could not be parsed.", { cause })));
      worker.once("exit", () => reject(signal.reason ?? new Fault("internal_error", "The text could not be parsed.")));
    });
  } finally {
    signal.removeEventListener("abort", stop);
    await worker.terminate();
  }
}

/** Beside the bundle when built, beside this file when run from source. */
function workerFile(): URL {
  const built = new URL("./rag-outline.mjs", import.meta.url);
  return existsSync(built) ? built : new URL("./worker.ts", import.meta.url);
}
