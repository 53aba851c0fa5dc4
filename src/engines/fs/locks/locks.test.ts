import { spawn } from "node:child_process";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type FreshStore, onBothBackends } from "../../../../tests/harness/backends.ts";
import type { Store } from "../../../base/store/types.ts";
import { maaslOptions } from "../options.ts";
import { type ProcessMark, thisProcess } from "../process.ts";
import { LOCKS } from "../store.ts";
import { createLocks, type Locks } from "./index.ts";

onBothBackends("locks", (fresh) => {
  let store: FreshStore;
  let db: Store;
  let locks: Locks;
  let takeovers: number;
  const { signal } = new AbortController();
  const file = (real: string, tree = false) => ({ real, shown: real.slice(1), tree });

  beforeEach(async () => {
    store = await fresh();
    db = await store.open(LOCKS);
    takeovers = 0;
    locks = make(thisProcess());
  });
  afterEach(async () => {
    await db.close();
    await store[Symbol.asyncDispose]();
  });

  const make = (mark: ProcessMark, wait_ms = 60, lease_s = 30) =>
    createLocks(maaslOptions.parse({ wait_ms, lease_s, batch_wait_ms: 300 }), db, mark, async () => void takeovers++);

  test("who comes second waits his turn, and is told who holds it when the wait is over", async () => {
    const hold = await locks.take([file("/r/a")], "local:0#one", signal);
    expect(await locks.list()).toMatchObject([{ resource: "/r/a", class: "CRIT_CODE", holder: "local:0#one" }]);
    await expect(locks.take([file("/r/a")], "two", signal)).rejects.toMatchObject({
      code: "resource_busy",
      message: expect.stringMatching(/^r\/a is being changed: held by local:0#one since \d{4}-/),
    });
    const next = locks.take([file("/r/a")], "two", signal);
    await hold.release();
    await (await next).release();
    expect(await locks.list()).toEqual([]);
  });

  test("turns within a process come in order", async () => {
    const order: number[] = [];
    const patient = make(thisProcess(), 20_000);
    await Promise.all(
      Array.from({ length: 20 }, async (_, number) => {
        const hold = await patient.take([file("/r/same")], "x", signal);
        order.push(number);
        await hold.release();
      }),
    );
    expect(order).toEqual(order.toSorted((a, b) => a - b));
  });

  test("fences only grow", async () => {
    const fences: number[] = [];
    for (let i = 0; i < 3; i++) {
      const hold = await locks.take([file("/r/a")], "x", signal);
      fences.push((await db.get<{ fence: number }>("SELECT fence FROM leases"))!.fence);
      await hold.release();
    }
    expect(fences).toEqual([...new Set(fences)].sort((a, b) => a - b));
  });

  test("an expired lease is taken over, and its old holder can no longer commit", async () => {
    const old = await locks.take([file("/r/a")], "old", signal);
    const other = make(thisProcess());
    await db.run("UPDATE leases SET expires_ms = 1");
    const hold = await other.take([file("/r/a")], "new", signal);
    expect(takeovers).toBe(1);
    let isDone = false;
    const late = old.commit(() => {
      isDone = true;
    });
    await expect(late).rejects.toMatchObject({ code: "resource_busy" });
    expect(isDone).toBe(false);
    await old.release();
    expect(await other.list()).toMatchObject([{ holder: "new" }]);
    await hold.release();
  });

  test("a lock of a dead process is free at once, after what it left is settled", async () => {
    const child = spawn("/bin/true");
    const mark = { ...thisProcess(), pid: child.pid!, started: "1" };
    await new Promise((resolve) => child.once("exit", resolve));
    await make(mark).take([file("/r/a")], "dead", signal);
    expect(await locks.list()).toEqual([]);
    await (await locks.take([file("/r/a")], "new", signal)).release();
    expect(takeovers).toBe(1);
  });

  test("a process number in another namespace is not judged from here", async () => {
    const [machine, boot] = thisProcess().place.split("|");
    await make({ pid: 999_999_999, started: "1", place: `${machine}|${boot}|pid:[1]` }).take(
      [file("/r/a")],
      "container",
      signal,
    );
    await expect(locks.take([file("/r/a")], "new", signal)).rejects.toMatchObject({ code: "resource_busy" });
  });

  test("a folder and what lies below it exclude each other, neighbours do not", async () => {
    const below = await locks.take([file("/r/d/x")], "x", signal);
    await expect(locks.take([file("/r/d", true)], "y", signal)).rejects.toMatchObject({ code: "resource_busy" });
    await (await locks.take([file("/r/d2", true)], "y", signal)).release();
    await below.release();
    const folder = await locks.take([file("/r/d", true)], "y", signal);
    await expect(locks.take([file("/r/d/e/f")], "x", signal)).rejects.toMatchObject({ code: "resource_busy" });
    await (await locks.take([file("/r/dx")], "x", signal)).release();
    await folder.release();
  });

  test("several are taken all or none, in whatever order they are named", async () => {
    const a = await locks.take([file("/r/a")], "x", signal);
    await expect(locks.take([file("/r/b"), file("/r/a")], "y", signal)).rejects.toMatchObject({
      code: "resource_busy",
    });
    expect(await locks.list()).toHaveLength(1);
    await a.release();
    for (let i = 0; i < 20; i++) {
      const both = await Promise.all([
        locks.take([file("/r/a"), file("/r/b")], "x", signal).then((hold) => hold.release()),
        locks.take([file("/r/b"), file("/r/a")], "y", signal).then((hold) => hold.release()),
      ]);
      expect(both).toHaveLength(2);
    }
  });

  test("a database and its side files are one thing, and each class has its own lease", async () => {
    const hold = await locks.take([file("/r/app.db-wal")], "x", signal);
    expect(await locks.list()).toMatchObject([{ resource: "/r/app.db", class: "CRIT_DB" }]);
    await expect(locks.take([file("/r/app.db")], "y", signal)).rejects.toMatchObject({ code: "resource_busy" });
    const [lease] = await locks.list();
    expect(Date.parse(lease!.expires) - Date.parse(lease!.since)).toBe(60_000);
    await hold.release();
  });

  test("an aborted wait ends, and leaves the queue to others", async () => {
    const hold = await locks.take([file("/r/a")], "x", signal);
    const abort = new AbortController();
    const waiting = locks.take([file("/r/a")], "y", abort.signal);
    abort.abort(new Error("stop"));
    await expect(waiting).rejects.toThrow("stop");
    await hold.release();
    await (await locks.take([file("/r/a")], "z", signal)).release();
  });

  test("a last step that was taken counts, and the locks and the journal entry end with it", async () => {
    const hold = await locks.take([file("/r/a")], "x", signal);
    const insert =
      "INSERT INTO journal (state, deeds, pid, started, place, at_ms) VALUES ('staged', '[]', 1, '1', 'x', 0)";
    const { id } = (await db.get<{ id: number }>(`${insert} RETURNING id`))!;
    expect(await hold.commit(() => 7, id)).toBe(7);
    expect([await db.all("SELECT * FROM journal"), await locks.list()]).toEqual([[], []]);
    const failing = await locks.take([file("/r/a")], "x", signal);
    const refused = failing.commit(() => {
      throw new Error("the disk says no");
    });
    await expect(refused).rejects.toThrow("the disk says no");
    expect(await locks.list()).toHaveLength(1);
    await failing.release();
    expect(await locks.list()).toEqual([]);
  });

  test("many that want a folder and what lies in it never have both", async () => {
    let inFolder = 0;
    let inFile = 0;
    const work = async (number: number) => {
      const isFolder = number % 2 === 0;
      const hold = await make(thisProcess(), 20_000).take(
        [file(isFolder ? "/r/d" : `/r/d/${number}`, isFolder)],
        "x",
        signal,
      );
      if (isFolder) inFolder++;
      else inFile++;
      await new Promise((resolve) => setTimeout(resolve, 1));
      expect(inFolder === 0 || (inFolder === 1 && inFile === 0)).toBe(true);
      if (isFolder) inFolder--;
      else inFile--;
      await hold.release();
    };
    await Promise.all(Array.from({ length: 16 }, (_, number) => work(number)));
  });
});
