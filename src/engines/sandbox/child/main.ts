/** The process in which all code of callers runs. Started by the server with no rights and an empty environment; ends when the server does. */
import { isMainThread, workerData } from "node:worker_threads";
import { createFrameReader, encodeFrame } from "../frames.ts";
import { createGuests } from "./keeper.ts";
import type { FromChild, ToChild } from "./protocol.ts";
import { selfTest } from "./self-test.ts";
import { runWorker, type WorkerStart } from "./worker.ts";

const MAX_FRAME = 1024 * 1024 * 1024;

if (isMainThread) serve();
else await runWorker(workerData as WorkerStart);

function serve(): void {
  const send = (message: FromChild, body?: Uint8Array) => {
    for (const part of encodeFrame(message, body)) process.stdout.write(part);
  };
  const handle = createGuests(new URL(import.meta.url), send);
  const read = createFrameReader(MAX_FRAME, ({ head, body }) => handle(head as unknown as ToChild, body));
  process.stdin.on("data", read);
  process.stdin.on("end", () => process.kill(process.pid, "SIGKILL"));
  process.stdout.on("error", () => process.kill(process.pid, "SIGKILL"));
  send({ t: "hello", test: selfTest() });
}
