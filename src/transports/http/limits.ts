import { RateLimiterMemory, RateLimiterRes } from "rate-limiter-flexible";
import { Fault } from "../../base/fault.ts";
import type { Principal } from "../../base/principal.ts";
import type { Schema, Store } from "../../base/store/types.ts";
import type { HttpLimits } from "./options.ts";
import { type Counter, createSharedCounters } from "./shared-rate.ts";

export interface Limits {
  /** Counts a request against its caller's rate and concurrency; gives the way out. */
  enter(principal: Principal): Promise<() => void>;
  /** A stream that stays open: counted apart, so that listening does not use up calling. */
  openStream(principal: Principal): () => void;
  /** A wrong token came from this address: waits longer each time. */
  failed(address: string): Promise<void>;
}

const SLOWEST_MS = 4000;
const FORGET_S = 300;
/** A person may mistype; a guesser does not stop here. */
const FREE_MISTAKES = 12;

/** Each caller has a steady rate and a burst above it. Strangers who guess tokens are slowed, address by address. */
export function createLimits(limits: HttpLimits, openShared?: (schema: Schema) => Promise<Store>): Limits {
  const counter = openShared ? createSharedCounters(openShared) : localCounter;
  const steady = counter({
    name: "rate",
    points: Math.max(1, Math.round(limits.rate_limit_rps)),
    duration: seconds(limits.rate_limit_rps),
  });
  const burst = counter({ name: "burst", points: limits.rate_limit_burst, duration: refill(limits) });
  const failures = counter({ name: "auth", points: 1_000_000, duration: FORGET_S });
  const busy = createCounter(limits.concurrency_per_token, (now) => `${now} requests of this token are under way.`);
  const streams = createCounter(limits.max_sessions_per_principal, (now) => `${now} streams of this token are open.`);

  return {
    async enter(principal) {
      const leave = busy(principal);
      try {
        await consume(principal);
        return leave;
      } catch (error) {
        leave();
        throw error;
      }
    },
    openStream: streams,
    async failed(address) {
      const { consumedPoints } = await failures.consume(address, 1);
      if (consumedPoints <= FREE_MISTAKES) return;
      const wait_ms = Math.min(SLOWEST_MS, 25 * 2 ** Math.min(10, consumedPoints - FREE_MISTAKES));
      await new Promise((resolve) => setTimeout(resolve, wait_ms));
    },
  };

  async function consume(principal: Principal): Promise<void> {
    const refusal = await refused(steady, principal);
    if (!refusal || !(await refused(burst, principal))) return;
    throw new Fault("rate_limited", "Too many requests.", {
      retry_after_s: Math.max(1, Math.ceil(refusal.msBeforeNext / 1000)),
    });
  }
}

const localCounter: ReturnType<typeof createSharedCounters> = ({ name, points, duration }) =>
  new RateLimiterMemory({ keyPrefix: name, points, duration });

async function refused(counter: Counter, key: string): Promise<RateLimiterRes | undefined> {
  try {
    await counter.consume(key, 1);
    return undefined;
  } catch (refusal) {
    if (refusal instanceof RateLimiterRes) return refusal;
    throw refusal;
  }
}

/** Counts what each caller has open, and refuses more than so many. */
function createCounter(most: number, refusal: (now: number) => string): (principal: Principal) => () => void {
  const open = new Map<Principal, number>();
  return (principal) => {
    const now = open.get(principal) ?? 0;
    if (now >= most) throw new Fault("concurrency_limited", refusal(now), { retry_after_s: 1 });
    open.set(principal, now + 1);
    let left = false;
    return () => {
      if (left) return;
      left = true;
      const rest = (open.get(principal) ?? 1) - 1;
      if (rest === 0) open.delete(principal);
      else open.set(principal, rest);
    };
  };
}

/** Rates below one a second are counted over a longer time. */
function seconds(rps: number): number {
  return rps >= 1 ? 1 : 1 / rps;
}

/** A burst is there again after as long as the steady rate needs for it. */
function refill(limits: HttpLimits): number {
  return Math.max(1, limits.rate_limit_burst / limits.rate_limit_rps);
}
