/** The thread that parses and writes: a search never waits for a parse, and a server answers while it indexes. */
import { setFlagsFromString } from "node:v8";
import { parentPort, workerData } from "node:worker_threads";
import { createIndexer, type IndexerOptions, type Progress } from "./indexer.ts";

export type Request =
  | { readonly id: number; readonly ask: "sync" }
  | { readonly id: number; readonly ask: "fill" }
  | { readonly id: number; readonly ask: "refresh"; readonly paths: readonly string[] };

export type Answer =
  | { readonly id: number; readonly at: Progress; readonly done: boolean }
  | { readonly id: number; readonly failed: string };

// To optimise a grammar takes the engine 500 MB for a second. It is left as it is: plain code parses three megabytes a second.
// A budget does not put it off: it is spent by the length of each jump back, and the loops of some grammars are a megabyte long.
setFlagsFromString("--no-wasm-tier-up");
setFlagsFromString("--no-wasm-dynamic-tiering");
const port = parentPort!;
const indexer = createIndexer(workerData as IndexerOptions);
const send = (answer: Answer) => port.postMessage(answer);

port.on("message", async (request: Request) => {
  const { id } = request;
  try {
    if (request.ask === "sync") send({ id, done: true, at: await indexer.sync((at) => send({ id, at, done: false })) });
    else {
      await (request.ask === "fill" ? indexer.fill() : indexer.refresh(request.paths));
      send({ id, done: true, at: { done: 0, total: 0, bytes: 0 } });
    }
  } catch (error) {
    send({ id, failed: error instanceof Error ? error.message : String(error) });
  }
});
