/** Lets so many calls through at once; the rest wait in line. */
export function createGate(at_once: number): { enter(signal: AbortSignal): Promise<() => void> } {
  let free = at_once;
  const line: (() => void)[] = [];

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
