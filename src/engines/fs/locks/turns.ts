/** Writers of one process queue here first, in the order they came; only the one whose turn it is asks the store. */
export interface Turns {
  /** Resolves to the function that ends the turn, or to undefined when the wait is over before it came. */
  take(resource: string, wait_ms: number, signal: AbortSignal): Promise<(() => void) | undefined>;
}

type Wake = () => void;

export function createTurns(): Turns {
  const queues = new Map<string, Wake[]>();

  function end(resource: string): void {
    const next = queues.get(resource)?.shift();
    if (next) next();
    else queues.delete(resource);
  }

  return {
    take(resource, wait_ms, signal) {
      const queue = queues.get(resource);
      const once = () => end(resource);
      if (!queue) {
        queues.set(resource, []);
        return Promise.resolve(once);
      }
      return new Promise((resolve, reject) => {
        const leave = () => {
          clearTimeout(timer);
          signal.removeEventListener("abort", onAbort);
          const at = queue.indexOf(wake);
          if (at >= 0) queue.splice(at, 1);
        };
        const wake = () => {
          leave();
          resolve(once);
        };
        const onAbort = () => {
          leave();
          reject(signal.reason);
        };
        const timer = setTimeout(() => {
          leave();
          resolve(undefined);
        }, wait_ms);
        if (signal.aborted) return onAbort();
        signal.addEventListener("abort", onAbort, { once: true });
        queue.push(wake);
      });
    },
  };
}
