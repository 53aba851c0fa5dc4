import { RateLimiterMemory, RateLimiterPostgres, type RateLimiterRes } from "rate-limiter-flexible";
import type { Schema, SqlValue, Store } from "../../base/store/types.ts";

/** The table that the library wants. */
export const RATES: Schema = {
  name: "rates",
  sqlite: [],
  postgres: ["CREATE TABLE rates (key VARCHAR(255) PRIMARY KEY, points INTEGER NOT NULL DEFAULT 0, expire BIGINT)"],
};

/** How far the count of a replica may be behind that of all. */
const SYNC_MS = 250;

interface Rate {
  readonly name: string;
  readonly points: number;
  /** Seconds. */
  readonly duration: number;
}

/** Counts points of a key. Refuses by throwing a RateLimiterRes. */
export interface Counter {
  consume(key: string, points: number): Promise<RateLimiterRes>;
}

/**
 * A limit that all replicas count together, without a call ever waiting for the store: each decides by its own memory and tells
 * the store in the background how much it let through. What was let through too much by then is paid back: the key is blocked
 * everywhere for as long as the rate needs for it. So the rate holds over time, and at once at most the points of each replica
 * pass, and what comes within SYNC_MS.
 */
export function createSharedCounters(openShared: (schema: Schema) => Promise<Store>): (rate: Rate) => Counter {
  let opened: Promise<Store> | undefined;
  const query = async ({ text, values = [] }: { text: string; values?: SqlValue[] }) => {
    opened ??= openShared(RATES);
    try {
      const rows = await (await opened).all(text, ...values);
      return { rows, rowCount: rows.length };
    } catch (error) {
      opened = undefined;
      throw error;
    }
  };

  return ({ name, points, duration }) => {
    const local = new RateLimiterMemory({ keyPrefix: name, points, duration });
    const shared = new RateLimiterPostgres({
      storeClient: { query },
      storeType: "client",
      tableName: RATES.name,
      tableCreated: true,
      clearExpiredByTimeout: true,
      keyPrefix: name,
      points,
      duration,
    });
    let untold = new Map<string, number>();
    let isDue = false;

    async function tell(): Promise<void> {
      const told = untold;
      untold = new Map();
      isDue = false;
      for (const [key, count] of told) {
        // A store that is away leaves each replica with its own count.
        const all = await shared.penalty(key, count).catch(() => undefined);
        if (all) await learn(key, count, all);
      }
    }

    async function learn(key: string, mine: number, { consumedPoints, msBeforeNext }: RateLimiterRes): Promise<void> {
      const over = Math.min(mine, consumedPoints - points);
      if (over <= 0) {
        await local.set(key, consumedPoints + (untold.get(key) ?? 0), Math.max(1, msBeforeNext) / 1000);
        return;
      }
      const debt_s = Math.max(0, msBeforeNext) / 1000 + (over / points) * duration;
      await local.block(key, debt_s);
      await shared.block(key, debt_s).catch(() => {});
    }

    return {
      async consume(key, count) {
        const result = await local.consume(key, count);
        untold.set(key, (untold.get(key) ?? 0) + count);
        if (!isDue) setTimeout(() => void tell(), SYNC_MS).unref();
        isDue = true;
        return result;
      },
    };
  };
}
