import { describe, expect, it } from "vitest";
import { fc } from "../../../tests/harness/random.ts";
import { Fault } from "../../base/fault.ts";
import type { Price } from "../../base/model.ts";
import { createLedger, type Reservation, type Usage } from "./ledger.ts";

const signal = new AbortController().signal;
const price = (input: number, output: number): Price => ({ input, cached_input: input, output, reasoning: output });
const usage = (input_tokens: number, output_tokens: number): Usage => ({
  input_tokens,
  cached_tokens: 0,
  output_tokens,
  reasoning_tokens: 0,
});
const DEAR = price(10, 100);
const worst = { input_tokens: 1000, output_tokens: 1000 };
/** What `worst` costs at DEAR. */
const WORST_USD = 0.11;

async function settled(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => "granted",
    (error: unknown) => (error as Fault).code,
  );
}

describe("the ledger", () => {
  it("grants as many worst cases as it covers, and refuses the others when those were billed in full", async () => {
    const ledger = createLedger(WORST_USD * 10, 1000);
    const asked = Array.from({ length: 64 }, async () => {
      const reservation = await ledger.reserve(worst, DEAR, signal);
      await new Promise((resolve) => setImmediate(resolve));
      reservation.settle(usage(1000, 1000));
    });
    const ends = await Promise.all(asked.map(settled));
    expect(ends.filter((end) => end === "granted")).toHaveLength(10);
    expect(ends.filter((end) => end === "budget_exceeded")).toHaveLength(54);
    expect(ledger.summary()).toMatchObject({ total_cost_usd: 1.1, remaining_usd: 0, calls: 10 });
  });

  it("lets a call wait for what others turn out to have cost", async () => {
    const ledger = createLedger(WORST_USD * 2, 1000);
    const made: string[] = [];
    const asked = Array.from({ length: 6 }, async (_, index) => {
      const reservation = await ledger.reserve(worst, DEAR, signal);
      made.push(String(index));
      await new Promise((resolve) => setImmediate(resolve));
      reservation.settle(usage(100, 10));
    });
    expect(await Promise.all(asked.map(settled))).toEqual(new Array(6).fill("granted"));
    expect(made).toEqual(["0", "1", "2", "3", "4", "5"]);
    expect(ledger.summary().total_cost_usd).toBeCloseTo(0.012, 9);
  });

  it("counts missing usage as the worst case, and what was not billed as nothing", async () => {
    const ledger = createLedger(1, 10);
    (await ledger.reserve(worst, DEAR, signal)).settle(undefined);
    (await ledger.reserve(worst, DEAR, signal)).release();
    expect(ledger.summary()).toMatchObject({
      total_cost_usd: WORST_USD,
      calls: 2,
      input_tokens: 1000,
      output_tokens: 1000,
    });
  });

  it("prices cached and reasoning tokens by themselves", async () => {
    const ledger = createLedger(1, 10);
    const rich: Price = { input: 10, cached_input: 1, output: 20, reasoning: 40 };
    const reservation = await ledger.reserve({ input_tokens: 1000, output_tokens: 1000 }, rich, signal);
    expect(ledger.summary().remaining_usd).toBeCloseTo(1 - 0.05, 9);
    reservation.settle({ input_tokens: 1000, cached_tokens: 400, output_tokens: 500, reasoning_tokens: 100 });
    expect(ledger.summary().total_cost_usd).toBeCloseTo((600 * 10 + 400 + 400 * 20 + 100 * 40) / 1e6, 9);
  });

  it("settles a reservation once", async () => {
    const ledger = createLedger(1, 10);
    const reservation = await ledger.reserve(worst, DEAR, signal);
    reservation.settle(undefined);
    reservation.settle(undefined);
    reservation.release();
    expect(ledger.summary()).toMatchObject({ total_cost_usd: WORST_USD, remaining_usd: 1 - WORST_USD });
  });

  it("bounds the number of calls, free ones too", async () => {
    const ledger = createLedger(1, 2);
    for (let call = 0; call < 2; call++) (await ledger.reserve(worst, price(0, 0), signal)).settle(undefined);
    expect(await settled(ledger.reserve(worst, price(0, 0), signal))).toBe("limit_exceeded");
    expect(ledger.callsLeft()).toBe(0);
  });

  it("lets go of a call that is cancelled while it waits", async () => {
    const ledger = createLedger(WORST_USD, 10);
    const first = await ledger.reserve(worst, DEAR, signal);
    const stop = new AbortController();
    const waiting = ledger.reserve(worst, DEAR, stop.signal).catch((error: unknown) => error);
    stop.abort(new Fault("timeout", "enough"));
    expect(await waiting).toMatchObject({ code: "timeout" });
    first.release();
    expect(await settled(ledger.reserve(worst, DEAR, signal))).toBe("granted");
  });

  it("is never overdrawn, whatever is asked, billed, released and cancelled in whatever order", async () => {
    const step = fc.record({
      input: fc.integer({ min: 0, max: 5000 }),
      output: fc.integer({ min: 0, max: 5000 }),
      rate: fc.integer({ min: 0, max: 200 }),
      billed: fc.option(fc.double({ min: 0, max: 1, noNaN: true }), { nil: undefined }),
      end: fc.constantFrom("settle", "release", "cancel"),
      ticks: fc.integer({ min: 0, max: 3 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), fc.integer({ min: 1, max: 200 }), async (steps, cents) => {
        const ledger = createLedger(cents / 100, 30);
        const holds = () => {
          const { total_cost_usd, remaining_usd, limit_usd, calls } = ledger.summary();
          expect(remaining_usd).toBeGreaterThanOrEqual(0);
          expect(total_cost_usd + remaining_usd).toBeLessThanOrEqual(limit_usd + 1e-12);
          expect(calls).toBeLessThanOrEqual(30);
        };
        await Promise.all(
          steps.map(async ({ input, output, rate, billed, end, ticks }) => {
            const stop = new AbortController();
            let reservation: Reservation;
            try {
              const asked = ledger.reserve(
                { input_tokens: input, output_tokens: output },
                price(rate, rate),
                stop.signal,
              );
              if (end === "cancel") queueMicrotask(() => stop.abort(new Error("cancelled")));
              reservation = await asked;
            } catch {
              return holds();
            }
            holds();
            for (let tick = 0; tick < ticks; tick++) await new Promise((resolve) => setImmediate(resolve));
            if (end === "release") reservation.release();
            else if (billed === undefined) reservation.settle(undefined);
            else reservation.settle(usage(Math.floor(input * billed), Math.floor(output * billed)));
            holds();
          }),
        );
        holds();
      }),
      { numRuns: 200 },
    );
  });
});
