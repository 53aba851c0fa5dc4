import { afterEach, beforeEach, expect, test } from "vitest";
import { type FreshStore, onBothBackends } from "../../../tests/harness/backends.ts";
import { openSessionStore, type SessionRow, type SessionStore } from "./store.ts";
import { ME, OTHER } from "./test-sandbox.ts";

const row = (session_id: string, more: Partial<SessionRow> = {}): SessionRow => ({
  session_id,
  owner: ME,
  language: "python",
  default_key: null,
  persist: true,
  created_at: 1,
  last_used_at: 1,
  execution_count: 0,
  saved_count: 0,
  bytes: 0,
  holder: null,
  fence: 0,
  held_until: 0,
  ...more,
});
const LOOK = { t: "looked", variables: [], imports: ["json"], files: [] } as const;
const saved = (count: number) => ({ image: new Uint8Array([1, 2, count]), look: LOOK, execution_count: count });

onBothBackends("sessions at rest", (fresh) => {
  let at: FreshStore;
  let store: SessionStore;
  beforeEach(async () => {
    at = await fresh();
    store = await openSessionStore(at.state_dir, at.openShared);
  });
  afterEach(async () => {
    await store.close();
    await at[Symbol.asyncDispose]();
  });

  test("are found by their owner alone, by name and by default key", async () => {
    expect(await store.add(row("s", { default_key: "k" }))).toBe(true);
    expect(await store.add(row("s"))).toBe(false);
    expect(await store.add(row("t", { default_key: "k" }))).toBe(false);
    expect(await store.find(ME, "s")).toEqual(row("s", { default_key: "k" }));
    expect(await store.findDefault(ME, "k", "python")).toMatchObject({ session_id: "s" });
    expect([await store.find(OTHER, "s"), await store.list(OTHER)]).toEqual([undefined, []]);
    expect([await store.remove(OTHER, "s"), await store.remove(ME, "s")]).toEqual([false, true]);
  });

  test("of many that take one at once one gets it, and what the one before writes then is refused", async () => {
    await store.add(row("s"));
    const first = (await store.take(row("s"), "a", Date.now() + 1000))!;
    const hand = { owner: ME, session_id: "s", fence: first };
    expect(await store.save(hand, saved(1))).toBe(true);
    const seen = (await store.find(ME, "s"))!;
    const taken = await Promise.all(["b", "c", "d"].map((holder) => store.take(seen, holder, 1)));
    expect(taken.filter((fence) => fence !== undefined)).toEqual([first + 1]);
    expect([await store.save(hand, saved(9)), await store.touch(hand, 9, 9), await store.keep(hand, 9)]).toEqual([
      false,
      false,
      "lost",
    ]);
    await store.release(hand);
    await store.reset(hand);
    await store.removeUnused(hand);
    expect(await store.find(ME, "s")).toMatchObject({ fence: first + 1, saved_count: 1, bytes: 3 });
  });

  test("keep image and look as they are, and are emptied", async () => {
    await store.add(row("s"));
    const image = Uint8Array.from({ length: 2_500_000 }, (_, n) => (n * 7) % 256);
    const hand = { owner: ME, session_id: "s", fence: 0 };
    await store.save(hand, { image, look: LOOK, execution_count: 3 });
    const loaded = (await store.load(ME, "s"))!;
    expect(Buffer.from(loaded.image).equals(Buffer.from(image))).toBe(true);
    expect([loaded.look, loaded.execution_count, await store.look(ME, "s")]).toEqual([LOOK, 3, LOOK]);
    await store.reset(hand);
    expect([await store.load(ME, "s"), await store.look(ME, "s")]).toEqual([undefined, undefined]);
  });

  test("tell the one who runs that another wants it to stop, and go when they are old", async () => {
    await store.add(row("s", { last_used_at: 5 }));
    const fence = (await store.take(row("s"), "a", Date.now() + 1000))!;
    const hand = { owner: ME, session_id: "s", fence };
    expect(await store.keep(hand, 1)).toBe("held");
    await store.askToCancel(ME, "s");
    expect(await store.keep(hand, 1)).toBe("cancelled");
    await store.expire(5);
    expect(await store.find(ME, "s")).toBeDefined();
    await store.expire(6);
    expect(await store.find(ME, "s")).toBeUndefined();
  });
});
