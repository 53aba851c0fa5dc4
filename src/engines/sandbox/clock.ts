import type { CallTool } from "./types.ts";

/** The time of a run. It can stand still while the run waits for someone else. */
interface Clock {
  run(): void;
  stop(): void;
  /** The same function; while one of its calls is under way the clock stands still. */
  outside(call: CallTool): CallTool;
}

export function createClock(seconds: number, onOver: () => void): Clock {
  let left_ms = seconds * 1000;
  let since = 0;
  let timer: NodeJS.Timeout | undefined;
  let ended = false;
  let outside = 0;

  const run = () => {
    if (ended) return;
    since = performance.now();
    timer = setTimeout(onOver, left_ms);
  };
  const pause = () => {
    clearTimeout(timer);
    left_ms = Math.max(0, left_ms - (performance.now() - since));
  };
  return {
    run,
    stop() {
      ended = true;
      clearTimeout(timer);
    },
    outside: (call) => async (name, args, signal) => {
      if (outside++ === 0) pause();
      try {
        return await call(name, args, signal);
      } finally {
        if (--outside === 0) run();
      }
    },
  };
}
