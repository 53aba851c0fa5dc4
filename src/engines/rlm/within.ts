import { Fault } from "../../base/fault.ts";

/** Work that is held to its time: its signal ends it, with a fault that says what to raise. */
export async function within<T>(
  seconds: number,
  signal: AbortSignal,
  work: (signal: AbortSignal, until_ms: number) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  const control = new AbortController();
  const follow = () => control.abort(signal.reason);
  signal.addEventListener("abort", follow, { once: true });
  const late = new Fault("timeout", `The query took longer than ${seconds} s.`, {
    hint: "Raise timeout_s (mcp.rlm.timeout_s_limit bounds it), or ask for less.",
  });
  const timer = setTimeout(() => control.abort(late), seconds * 1000);
  try {
    return await work(control.signal, performance.now() + seconds * 1000);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", follow);
  }
}
