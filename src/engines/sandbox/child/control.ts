import type { LimitName, Quotas } from "../runtimes/types.ts";

/** Memory that a worker and its keeper share: a bell, a wish to stop, and what the guest printed so far. */
export interface Control {
  readonly flags: SharedArrayBuffer;
  readonly output: SharedArrayBuffer;
}

const BELL = 0;
const STOP = 1;
const LENGTH = { stdout: 2, stderr: 3 } as const;
const CUT = { stdout: 4, stderr: 5 } as const;
export type Stream = "stdout" | "stderr";

export function createControl(quotas: Quotas): Control {
  return {
    flags: new SharedArrayBuffer(8 * 4),
    output: new SharedArrayBuffer(quotas.stdout_bytes + quotas.stderr_bytes),
  };
}

/** The keeper's side. */
export function createKeeper(control: Control, quotas: Quotas) {
  const flags = new Int32Array(control.flags);
  const output = Buffer.from(control.output);
  return {
    ring(): void {
      Atomics.add(flags, BELL, 1);
      Atomics.notify(flags, BELL);
    },
    stop(): void {
      Atomics.store(flags, STOP, 1);
      this.ring();
    },
    /** What was printed so far, whether or not the worker still lives. */
    printed(stream: Stream): string {
      const from = stream === "stdout" ? 0 : quotas.stdout_bytes;
      return Buffer.from(output.subarray(from, from + Atomics.load(flags, LENGTH[stream]))).toString("utf8");
    },
    cuts: (): LimitName[] => (["stdout", "stderr"] as const).filter((stream) => Atomics.load(flags, CUT[stream]) === 1),
  };
}

/** The worker's side. */
export function createOutlet(control: Control, quotas: Quotas) {
  const flags = new Int32Array(control.flags);
  const output = new Uint8Array(control.output);
  return {
    /** A wish to stop is for what ran when it was made. */
    unstop(): void {
      Atomics.store(flags, STOP, 0);
    },
    begin(): void {
      for (const flag of [...Object.values(LENGTH), ...Object.values(CUT)]) Atomics.store(flags, flag, 0);
    },
    /** Keeps what fits and drops the rest, as it is written. */
    write(stream: Stream, bytes: Uint8Array): void {
      const max = stream === "stdout" ? quotas.stdout_bytes : quotas.stderr_bytes;
      const from = stream === "stdout" ? 0 : quotas.stdout_bytes;
      const length = Atomics.load(flags, LENGTH[stream]);
      const kept = bytes.subarray(0, max - length);
      if (kept.length < bytes.length) Atomics.store(flags, CUT[stream], 1);
      output.set(kept, from + length);
      Atomics.store(flags, LENGTH[stream], length + kept.length);
    },
    cuts: (): LimitName[] => (["stdout", "stderr"] as const).filter((stream) => Atomics.load(flags, CUT[stream]) === 1),
    stopped: (): boolean => Atomics.load(flags, STOP) === 1,
    bell: (): number => Atomics.load(flags, BELL),
    /** Until the bell rings again. */
    sleep(since: number, ms: number): void {
      Atomics.wait(flags, BELL, since, ms);
    },
  };
}
