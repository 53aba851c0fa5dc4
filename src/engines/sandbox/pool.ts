import { Fault } from "../../base/fault.ts";
import type { Guest } from "./guest.ts";
import type { Host } from "./host.ts";
import type { Language } from "./types.ts";

/** Interpreters that are ready. Nobody waits for one to be made, but the first caller. */
export interface Pool {
  take(language: Language): Promise<Guest>;
  /** Given back as new, after a run that left nothing. */
  give(guest: Guest): void;
  /** Ends the spare ones. */
  drain(): void;
}

interface PoolOptions {
  readonly pool: number;
  readonly idle_s: number;
}

export function createPool(host: Host, options: PoolOptions): Pool {
  const spare = new Map<Language, Guest[]>([
    ["javascript", []],
    ["python", []],
  ]);
  const making = new Map<Language, number>();
  let idle: NodeJS.Timeout | undefined;
  let closed = false;
  let opening = 0;

  const opened = async (language: Language): Promise<Guest> => {
    opening++;
    try {
      const guest = await host.open(language);
      await guest.ready;
      return guest;
    } finally {
      opening--;
    }
  };

  /** A child that was killed takes with it what was being made in it: that is made again in the next, unless it is over. */
  const ready = async (language: Language): Promise<Guest> => {
    try {
      return await opened(language).catch((error: unknown) => {
        if (closed || error instanceof Fault) throw error;
        return opened(language);
      });
    } catch (error) {
      if (error instanceof Fault) throw error;
      throw new Fault("internal_error", `The ${language} interpreter did not start.`, { cause: error });
    }
  };

  function used(): void {
    clearTimeout(idle);
    idle = setTimeout(drain, options.idle_s * 1000);
    idle.unref();
  }

  function drain(): void {
    for (const guests of spare.values()) for (const guest of guests.splice(0)) guest.end();
    setTimeout(() => {
      if (host.guests() === 0 && opening === 0) void host.end();
    }, 1000).unref();
  }

  /** One more in the background, so that the next caller finds it. */
  function refill(language: Language): void {
    const wanted = options.pool - spare.get(language)!.length - (making.get(language) ?? 0);
    if (wanted <= 0 || closed) return;
    making.set(language, (making.get(language) ?? 0) + 1);
    void ready(language).then(
      (guest) => {
        making.set(language, making.get(language)! - 1);
        if (closed || spare.get(language)!.length >= options.pool) guest.end();
        else spare.get(language)!.push(guest);
      },
      () => making.set(language, making.get(language)! - 1),
    );
  }

  return {
    async take(language) {
      used();
      const guests = spare.get(language)!;
      for (let guest = guests.pop(); guest; guest = guests.pop())
        if (!guest.isGone()) {
          setTimeout(() => refill(language), 20).unref();
          return guest;
        }
      const made = await ready(language);
      setTimeout(() => refill(language), 20).unref();
      return made;
    },
    give(guest) {
      const guests = spare.get(guest.language)!;
      if (closed || guest.isGone() || guests.length >= options.pool) guest.end();
      else guests.push(guest);
    },
    drain() {
      closed = true;
      clearTimeout(idle);
      drain();
    },
  };
}
