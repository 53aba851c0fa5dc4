import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type FreshStore, onBothBackends } from "../../../tests/harness/backends.ts";
import { mintPrincipal, type Principal } from "../../base/principal.ts";
import { createLimits, type Limits } from "./limits.ts";

const [ANN, BEN] = [mintPrincipal("token", "ann"), mintPrincipal("token", "ben")];
const OPTIONS = {
  rate_limit_rps: 0.5,
  rate_limit_burst: 0,
  concurrency_per_token: 100,
  max_sessions_per_principal: 2,
  max_header_bytes: 9999,
  max_request_bytes: 9999,
};

/** Without a shared store a process counts in its memory; replicas tell each other. A caller sees one kind of limit. */
onBothBackends("limits beside a store", (fresh) => {
  let at: FreshStore;
  beforeEach(async () => {
    at = await fresh();
  });
  afterEach(() => at[Symbol.asyncDispose]());
  const open = (more: Partial<typeof OPTIONS> = {}) => createLimits({ ...OPTIONS, ...more }, at.openShared);

  async function passed(limits: Limits, who: Principal, times: number): Promise<number> {
    let count = 0;
    for (let call = 0; call < times; call++)
      try {
        (await limits.enter(who))();
        count++;
      } catch (error) {
        expect(error).toMatchObject({ code: "rate_limited", retry_after_s: expect.any(Number) });
      }
    return count;
  }

  test("let the rate and the burst above it through, of each caller, and say when to come again", async () => {
    const limits = open({ rate_limit_burst: 4 });
    expect(await passed(limits, ANN, 20)).toBe(5);
    expect(await passed(limits, BEN, 20)).toBe(5);
  });

  test("let the next through when its time has come", async () => {
    const limits = open({ rate_limit_rps: 2 });
    expect(await passed(limits, ANN, 2)).toBe(2);
    await expect(limits.enter(ANN)).rejects.toMatchObject({ code: "rate_limited", retry_after_s: 1 });
    await sleep(1500);
    expect(await passed(limits, ANN, 1)).toBe(1);
  });

  test("bound what is under way and what is open, and forget what ended", async () => {
    const limits = open({ rate_limit_rps: 1000, concurrency_per_token: 2 });
    const [first] = [await limits.enter(ANN), await limits.enter(ANN)];
    await expect(limits.enter(ANN)).rejects.toMatchObject({ code: "concurrency_limited" });
    (await limits.enter(BEN))();
    first!();
    first!();
    (await limits.enter(ANN))();
    const close = [limits.openStream(ANN), limits.openStream(ANN)];
    expect(() => limits.openStream(ANN)).toThrow(expect.objectContaining({ code: "concurrency_limited" }));
    for (const one of close) one();
    limits.openStream(ANN)();
  });
});
