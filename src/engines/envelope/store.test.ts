import { afterEach, beforeEach, expect, test } from "vitest";
import { type FreshStore, onBothBackends } from "../../../tests/harness/backends.ts";
import { type CallRow, openStore, type TelemetryStore } from "./store.ts";

const call = (more: Partial<CallRow> = {}): CallRow => ({
  principal: "me",
  agent_id: "agent",
  session_id: "one",
  model: "m",
  budget_profile: "default",
  command: "grep",
  arguments_hash: "h",
  arguments: null,
  mode: "enriched",
  kind: null,
  chars_in: 100,
  chars_out: 10,
  tokens_in: 40,
  tokens_out: 4,
  latency_ms: 2.5,
  te_ms: 0.1,
  exit_code: 0,
  error: null,
  ...more,
});

onBothBackends("telemetry", (fresh) => {
  let at: FreshStore;
  let store: TelemetryStore;
  beforeEach(async () => {
    at = await fresh();
    store = openStore(at.state_dir, at.openShared);
  });
  afterEach(async () => {
    await store.close();
    await at[Symbol.asyncDispose]();
  });

  test("adds up what a session has read, also from several at once", async () => {
    await Promise.all(Array.from({ length: 8 }, () => store.record(call())));
    expect([await store.spent("me", call()), await store.spent("other", call())]).toEqual([80, 0]);
  });

  test("tells calls by command and agent, of one principal or of all, from a time on", async () => {
    await store.record(call());
    await store.record(call({ command: "cat", error: "exit 1", exit_code: 1 }));
    await store.record(call({ principal: "other", agent_id: "b" }));
    const mine = await store.stats("me", 0);
    expect(mine.total).toMatchObject({ calls: 2, errors: 1, p50_ms: 2.5, tokens_saved: 72 });
    expect(mine.commands.map(({ name }) => name).sort()).toEqual(["cat", "grep"]);
    expect((await store.stats(undefined, 0)).agents).toHaveLength(2);
    expect((await store.stats(undefined, Date.now() + 1000)).total.calls).toBe(0);
  });

  test("that was closed says so", async () => {
    await store.close();
    await expect(store.record(call())).rejects.toMatchObject({ code: "store_unavailable" });
  });
});
