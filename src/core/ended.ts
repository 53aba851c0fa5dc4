import { Fault } from "../base/fault.ts";
import type { Tool } from "./tool.ts";

/** One file or search operation has its own, shorter time. */
export async function timed(
  tool: Tool,
  seconds: number,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<unknown>,
): Promise<unknown> {
  if (tool.timed !== "read") return work(signal);
  const control = new AbortController();
  const follow = () => control.abort(signal.reason);
  signal.addEventListener("abort", follow, { once: true });
  if (signal.aborted) follow();
  const fault = new Fault("timeout", `${tool.name} took longer than ${seconds} s.`, {
    hint: "Ask for less, or raise mcp.tools.read_timeout.",
  });
  const timer = setTimeout(() => control.abort(fault), seconds * 1000);
  try {
    return await Promise.race([work(control.signal), aborted(control.signal)]);
  } catch (thrown) {
    // Node's own waits say only that they were ended, not why.
    throw control.signal.aborted && isAbort(thrown) ? control.signal.reason : thrown;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", follow);
  }
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true }));
}

/** What its caller gave up is no failure of ours, whichever way the news of it came up. */
export function cancelled(thrown: unknown, signal: AbortSignal): Fault | undefined {
  if (!signal.aborted || (thrown !== signal.reason && !isAbort(thrown))) return undefined;
  if (signal.reason instanceof Fault) return signal.reason;
  return new Fault("timeout", "The call was cancelled.", { retryable: false });
}

function isAbort(thrown: unknown): boolean {
  return thrown instanceof Error && thrown.name === "AbortError";
}
