import { Fault } from "../base/fault.ts";
import type { Tool } from "./tool.ts";

/**
 * One file or search operation has its own, shorter time. Most end with the turn of the loop they began in: timer and listener
 * are for those that do not.
 */
export function timed(
  tool: Tool,
  seconds: number,
  control: AbortController,
  work: () => Promise<unknown>,
): Promise<unknown> {
  if (tool.timed !== "read") return work();
  const { signal } = control;
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined;
    const giveUp = () => reject(signal.reason);
    const result = work();
    const armed = setImmediate(() => {
      if (signal.aborted) return giveUp();
      signal.addEventListener("abort", giveUp, { once: true });
      timer = setTimeout(() => control.abort(tooSlow(tool, seconds)), seconds * 1000);
    });
    const disarm = () => {
      clearImmediate(armed);
      clearTimeout(timer);
    };
    result.then(
      (payload) => {
        disarm();
        resolve(payload);
      },
      (thrown: unknown) => {
        disarm();
        // Node's own waits say only that they were ended, not why.
        reject(signal.aborted && isAbort(thrown) ? signal.reason : thrown);
      },
    );
  });
}

function tooSlow(tool: Tool, seconds: number): Fault {
  return new Fault("timeout", `${tool.name} took longer than ${seconds} s.`, {
    hint: "Ask for less, or raise mcp.tools.read_timeout.",
  });
}

/** A control of its own that is aborted with the signal, until it is let go. */
export function following(signal: AbortSignal): { control: AbortController; letGo(): void } {
  const control = new AbortController();
  const follow = () => control.abort(signal.reason);
  if (signal.aborted) follow();
  else signal.addEventListener("abort", follow, { once: true });
  return { control, letGo: () => signal.removeEventListener("abort", follow) };
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
