import type { Readable } from "node:stream";
import type { AllowedCommand } from "../../base/command.ts";
import { type Capture, createCapture } from "./capture.ts";
import type { SessionFacts } from "./environment.ts";
import { createSpool, type Keep, type Spool } from "./keep.ts";
import { type Launched, type LaunchFacts, launch } from "./launch.ts";
import type { Network } from "./network.ts";
import { GRACE_MS, signalGroup } from "./signals.ts";

export interface RunRequest {
  readonly timeout_s: number;
  readonly signal: AbortSignal;
  readonly stdin?: string | undefined;
  readonly session?: SessionFacts | undefined;
  /** Where the whole output goes when it outgrows the answer. */
  readonly keep?: Keep | undefined;
  readonly keep_always?: boolean;
  /** Sees all of the output while it comes. */
  readonly watch?: ((stream: "stdout" | "stderr", chunk: Uint8Array) => void) | undefined;
  /** What of each stream is answered at most; half from its beginning, half from its end. */
  readonly max_bytes?: number;
  readonly network?: Network | undefined;
  readonly private_dir?: string;
}

/** The same fields however it ended. */
export interface RunResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly exit_code: number;
  readonly signal: string | null;
  readonly timed_out: boolean;
  readonly cancelled: boolean;
  readonly truncated: boolean;
  readonly handle: string | undefined;
  readonly isolation: AllowedCommand["level"];
  /** Names that it made and must not make: moved out of the roots. */
  readonly moved_away: readonly string[];
  readonly duration_ms: number;
}

export const DEFAULT_MAX_BYTES = 1024 * 1024;
/** Output beyond this is counted and dropped. */
const KEPT_MAX_BYTES = 8 * 1024 * 1024;
/** How long streams may stay open after the program ended: a child that left its group can hold them for ever. */
const DRAIN_MS = 500;

/** Runs one command to its end, its deadline or its cancellation, whichever is first. */
export async function run(facts: LaunchFacts, command: AllowedCommand, request: RunRequest): Promise<RunResult> {
  const began = performance.now();
  const max_bytes = request.max_bytes ?? DEFAULT_MAX_BYTES;
  const stdout = createCapture(max_bytes);
  const stderr = createCapture(max_bytes);
  const spool = createSpool({
    keep: request.keep,
    inline_bytes: max_bytes,
    max_bytes: KEPT_MAX_BYTES,
    always: request.keep_always ?? false,
  });
  request.signal.throwIfAborted();

  const launched = await launch(facts, command, {
    stdio: [request.stdin === undefined ? "ignore" : "pipe", "pipe", "pipe"],
    session: request.session,
    network: request.network,
    private_dir: request.private_dir,
    drained: true,
  });
  const { child } = launched;
  const streams = [child.stdout!, child.stderr!];
  const closed = Promise.all([
    drain(child.stdout!, seen("stdout", stdout, request), spool, streams),
    drain(child.stderr!, seen("stderr", stderr, request), spool, streams),
  ]);
  feed(launched, request.stdin);
  const stopped = stopper(launched, request);
  const ended = await launched.ended;
  const why = stopped.clear();
  await Promise.race([closed, after(DRAIN_MS, closed)]);
  for (const stream of streams) stream.destroy();
  const handle = await spool.end();

  return {
    stdout: stdout.text(),
    stderr: stderr.text(),
    ...ended,
    timed_out: why === "timeout",
    cancelled: why === "cancel",
    truncated: stdout.truncated || stderr.truncated,
    handle,
    isolation: command.level,
    duration_ms: Math.round((performance.now() - began) * 10) / 10,
  };
}

function seen(stream: "stdout" | "stderr", capture: Capture, { watch }: RunRequest): Pick<Capture, "push" | "bytes"> {
  if (!watch) return capture;
  return {
    push(chunk) {
      capture.push(chunk);
      watch(stream, chunk);
    },
    get bytes() {
      return capture.bytes;
    },
  };
}

/** Reads a stream to its end, as fast as the store can take it. What nobody keeps is given back at once: a flood would outrun the collector. */
function drain(
  stream: Readable,
  capture: Pick<Capture, "push" | "bytes">,
  spool: Spool,
  streams: readonly Readable[],
): Promise<void> {
  stream.on("data", (chunk: Buffer<ArrayBuffer>) => {
    capture.push(chunk);
    if (!spool.wants) {
      chunk.buffer.transfer(0);
      return;
    }
    if (spool.push(chunk)) return;
    for (const each of streams) each.pause();
    void spool.drained().then(() => {
      for (const each of streams) each.resume();
    });
  });
  return new Promise((resolve) => {
    stream.once("close", resolve);
    stream.once("error", () => resolve());
  });
}

function feed(launched: Launched, text: string | undefined): void {
  const { stdin } = launched.child;
  if (!stdin) return;
  // A program may end without reading all of it.
  stdin.on("error", () => {});
  stdin.end(text ?? "");
}

/** TERM at the deadline or when cancelled, KILL after the grace. */
function stopper(launched: Launched, request: RunRequest): { clear(): "timeout" | "cancel" | undefined } {
  let why: "timeout" | "cancel" | undefined;
  let last: NodeJS.Timeout | undefined;
  const stop = (reason: "timeout" | "cancel") => {
    if (why !== undefined) return;
    why = reason;
    signalGroup(launched.pid, launched.in_sandbox, "SIGTERM");
    last = setTimeout(() => signalGroup(launched.pid, launched.in_sandbox, "SIGKILL"), GRACE_MS);
  };
  const onAbort = () => stop("cancel");
  const timer = setTimeout(() => stop("timeout"), request.timeout_s * 1000);
  request.signal.addEventListener("abort", onAbort, { once: true });
  if (request.signal.aborted) onAbort();
  return {
    clear() {
      clearTimeout(timer);
      clearTimeout(last);
      request.signal.removeEventListener("abort", onAbort);
      return why;
    },
  };
}

function after(ms: number, unless: Promise<unknown>): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    void unless.then(() => clearTimeout(timer));
  });
}
