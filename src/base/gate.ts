export interface Gate {
  /** Waits in line, as long as the signal does, and gives the way to leave. */
  enter(signal: AbortSignal): Promise<() => void>;
}

/** Lets so many through at once; the rest wait in order. */
export function createGate(at_once: number): Gate {
  let free = at_once;
  const line: (() => void)[] = [];

  /** Who leaves hands their place to the next: nobody can slip in between. */
  function leave(): void {
    const next = line.shift();
    if (next) next();
    else free++;
  }

  function once(): () => void {
    let left = false;
    return () => {
      if (left) return;
      left = true;
      leave();
    };
  }

  return {
    async enter(signal) {
      if (free > 0) {
        free--;
        return once();
      }
      signal.throwIfAborted();
      await new Promise<void>((resolve, reject) => {
        const go = () => {
          signal.removeEventListener("abort", giveUp);
          resolve();
        };
        const giveUp = () => {
          line.splice(line.indexOf(go), 1);
          reject(signal.reason);
        };
        line.push(go);
        signal.addEventListener("abort", giveUp, { once: true });
      });
      return once();
    },
  };
}
