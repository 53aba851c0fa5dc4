/** Stores output that is too long to answer with, and gives the handle it can be read by. */
export type Keep = (output: AsyncIterable<Uint8Array>) => Promise<string>;

/** The way of a command's whole output into a store, which opens only when the output outgrows what is kept at hand. */
export interface Spool {
  /** False when more would not be kept. */
  readonly wants: boolean;
  /** Takes the chunk over. False when the store is behind: pause the source until `drained`. */
  push(chunk: Uint8Array): boolean;
  drained(): Promise<void>;
  /** The handle, when there is one. */
  end(): Promise<string | undefined>;
}

const PENDING_MAX = 1024 * 1024;

interface SpoolOptions {
  readonly keep: Keep | undefined;
  /** Output up to this needs no handle. */
  readonly inline_bytes: number;
  readonly max_bytes: number;
  /** Store whatever there is, however little. */
  readonly always?: boolean;
}

export function createSpool(options: SpoolOptions): Spool {
  let early: Uint8Array[] = [];
  let total = 0;
  let pending: Uint8Array[] = [];
  let pendingBytes = 0;
  let ended = false;
  let failed = false;
  let handle: Promise<string | undefined> | undefined;
  let wake: (() => void) | undefined;
  let relieve: (() => void) | undefined;

  async function* chunks(): AsyncGenerator<Uint8Array> {
    for (;;) {
      const batch = pending;
      pending = [];
      pendingBytes = 0;
      relieve?.();
      relieve = undefined;
      yield* batch;
      if (pending.length > 0) continue;
      if (ended) return;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  }

  function open(): void {
    pending = early;
    pendingBytes = total;
    early = [];
    // A store that fails must not fail the command: its answer then carries no handle.
    handle = options.keep!(chunks()).catch(() => {
      failed = true;
      pending = [];
      pendingBytes = 0;
      relieve?.();
      return undefined;
    });
  }

  return {
    get wants() {
      return options.keep !== undefined && !failed && total < options.max_bytes;
    },
    push(chunk) {
      const room = options.max_bytes - total;
      const part = chunk.length > room ? chunk.subarray(0, room) : chunk;
      total += part.length;
      if (!handle) {
        early.push(part);
        if (total > options.inline_bytes) open();
        return true;
      }
      pending.push(part);
      pendingBytes += part.length;
      if (total >= options.max_bytes)
        pending.push(Buffer.from(`\n[... output beyond ${options.max_bytes} bytes was not kept ...]\n`));
      wake?.();
      return pendingBytes < PENDING_MAX;
    },
    drained() {
      if (pendingBytes < PENDING_MAX) return Promise.resolve();
      return new Promise<void>((resolve) => {
        relieve = resolve;
      });
    },
    async end() {
      if (!handle && options.always && options.keep && total > 0) open();
      ended = true;
      wake?.();
      return handle;
    },
  };
}
