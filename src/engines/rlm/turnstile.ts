/** Lets so many through at once; the others wait in order, as long as their signal does. */
export type Turnstile = <T>(signal: AbortSignal, work: () => Promise<T>) => Promise<T>;

export function createTurnstile(at_once: number): Turnstile {
  const waiting: (() => void)[] = [];
  let inside = 0;
  return async (signal, work) => {
    // Who leaves hands their place to the next: nobody can slip in between.
    if (inside >= at_once) await new Promise<void>((resolve) => waiting.push(resolve));
    else inside++;
    try {
      signal.throwIfAborted();
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else inside--;
    }
  };
}
