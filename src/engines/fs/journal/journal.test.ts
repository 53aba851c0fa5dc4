import {
  appendFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  renameSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type FreshStore, onBothBackends } from "../../../../tests/harness/backends.ts";
import type { Store } from "../../../base/store/types.ts";
import { createFs } from "../index.ts";
import { maaslOptions } from "../options.ts";
import { type ProcessMark, thisProcess } from "../process.ts";
import { LOCKS } from "../store.ts";
import { openTestRoot, type TestRoot } from "../test-root.ts";
import { createJournal, type Deed, type DirRef, type JournalState, versionOf } from "./index.ts";

const DEAD: ProcessMark = { ...thisProcess(), started: "never" };
const TEMP = ".llmc-0123456789abcdef01.tmp";
const SPARE = ".llmc-0123456789abcdef02.tmp";

onBothBackends("after a crash the journal", (fresh) => {
  let at: TestRoot;
  let store: FreshStore;
  let db: Store;
  beforeEach(async () => {
    at = openTestRoot();
    store = await fresh();
    db = await store.open(LOCKS);
  });
  afterEach(async () => {
    await db.close();
    await store[Symbol.asyncDispose]();
    at[Symbol.dispose]();
  });

  const here = (): DirRef => {
    const { dev, ino } = statSync(at.root);
    return { path: at.root, dev, ino };
  };
  const left = (state: JournalState, deeds: Deed[], bytes?: Buffer, mark = DEAD) =>
    createJournal(db, mark).begin({ fences: [] }, state, deeds, bytes);
  const restart = () =>
    createFs(maaslOptions.parse({}), {
      roots: at.roots,
      state_dir: store.state_dir,
      openShared: store.openShared,
    }).close();
  const entries = async () => (await db.all("SELECT * FROM journal")).length;
  const path = (name: string) => join(at.root, name);

  test("a staged file goes, one of a living process stays", async () => {
    at.put(TEMP, "half");
    at.put(SPARE, "mine");
    await left("staged", [{ kind: "trash", dir: here(), temp: TEMP }]);
    await left("staged", [{ kind: "trash", dir: here(), temp: SPARE }], undefined, thisProcess());
    await restart();
    expect(readdirSync(at.root).sort()).toEqual([SPARE]);
    expect(await entries()).toBe(1);
  });

  test("half an append is cut off, a whole one stays, and so do the bytes of others", async () => {
    const append = (length: number): Deed => ({
      kind: "append",
      dir: here(),
      name: "a",
      ino: statSync(path("a")).ino,
      size: 3,
      length,
    });
    at.put("a", "oldne");
    await left("staged", [append(4)], Buffer.from("new\n"));
    await restart();
    expect(at.get("a")).toBe("old");
    at.put("a", "oldnew\n");
    await left("staged", [append(4)], Buffer.from("new\n"));
    await restart();
    expect(at.get("a")).toBe("oldnew\n");
    at.put("a", "oldXY");
    await left("staged", [append(4)], Buffer.from("new\n"));
    await restart();
    expect(at.get("a")).toBe("oldXY");
    appendFileSync(path("a"), "much more than we wrote");
    await left("staged", [append(4)]);
    await restart();
    expect(at.get("a")).toBe("oldXYmuch more than we wrote");
  });

  const batch = (): Deed[] => [
    { kind: "put", dir: here(), name: "a", temp: TEMP, spare: SPARE, seen: versionOf(statSync(path("a"))) },
    { kind: "drop", dir: here(), name: "b", ino: statSync(path("b")).ino, spare: SPARE.replace("02", "03") },
    {
      kind: "put",
      dir: here(),
      name: "c",
      temp: TEMP.replace("01", "04"),
      spare: SPARE.replace("02", "05"),
      seen: null,
    },
  ];
  const stageBatch = () => {
    at.put("a", "old a");
    at.put("b", "old b");
    at.put(TEMP, "new a");
    at.put(TEMP.replace("01", "04"), "new c");
    return batch();
  };

  test("a change that was only staged is undone", async () => {
    await left("staged", stageBatch());
    await restart();
    expect(readdirSync(at.root).sort()).toEqual(["a", "b"]);
    expect(at.get("a")).toBe("old a");
  });

  test("a change that was to be is ended, wherever it was interrupted", async () => {
    const steps = [
      () => {},
      () => linkSync(path("a"), path(SPARE)),
      () => renameSync(path(TEMP), path("a")),
      () => renameSync(path("b"), path(SPARE.replace("02", "03"))),
      () => linkSync(path(TEMP.replace("01", "04")), path("c")),
    ];
    for (let done = 1; done <= steps.length; done++) {
      const deeds = stageBatch();
      for (const step of steps.slice(0, done)) step();
      await left("committed", deeds);
      await restart();
      expect(readdirSync(at.root).sort()).toEqual(["a", "c"]);
      expect([at.get("a"), at.get("c")]).toEqual(["new a", "new c"]);
      expect(await entries()).toBe(0);
      renameSync(path("c"), path("b"));
    }
  });

  test("a change that can no longer be ended is taken back whole, without harm to what others did", async () => {
    const deeds = stageBatch();
    renameSync(path("b"), path(SPARE.replace("02", "03")));
    at.put("c", "someone else");
    await left("committed", deeds);
    await restart();
    expect(readdirSync(at.root).sort()).toEqual(["a", "b", "c"]);
    expect([at.get("a"), at.get("b"), at.get("c")]).toEqual(["old a", "old b", "someone else"]);
  });

  test("a moved file has one name, a deleted folder is gone, a new folder that stayed empty too", async () => {
    at.put("from", "x");
    linkSync(path("from"), path("to"));
    const { ino } = statSync(path("from"));
    await left("committed", [{ kind: "move", dir: here(), name: "from", to: here(), to_name: "to", ino }]);
    mkdirSync(path(`${TEMP}/deep`), { recursive: true });
    at.put(`${TEMP}/deep/f`, "");
    symlinkSync("/etc", path(`${TEMP}/link`));
    await left("committed", [{ kind: "trash", dir: here(), temp: TEMP }]);
    mkdirSync(path("made/inside"), { recursive: true });
    mkdirSync(path("used/inside"), { recursive: true });
    at.put("used/file", "");
    await left("staged", [{ kind: "mkdir", dir: here(), name: "made" }]);
    await left("staged", [{ kind: "mkdir", dir: here(), name: "used" }]);
    await restart();
    expect(readdirSync(at.root).sort()).toEqual(["to", "used"]);
    expect(readdirSync(path("used"))).toEqual(["file"]);
    expect(existsSync("/etc/passwd")).toBe(true);
  });

  test("nothing is done in a folder that is another one now", async () => {
    at.put(TEMP, "not ours");
    await left("staged", [{ kind: "trash", dir: { ...here(), ino: 1 }, temp: TEMP }]);
    await left("staged", [{ kind: "trash", dir: { path: path("gone"), dev: 1, ino: 1 }, temp: TEMP }]);
    await restart();
    expect(at.get(TEMP)).toBe("not ours");
    expect(await entries()).toBe(0);
  });
});

test("a store that cannot be opened hinders writers and not readers", async () => {
  using at = openTestRoot();
  at.put("a", "x");
  const state_dir = join(at.root, "state");
  mkdirSync(state_dir);
  at.put("state/locks.db", "this is no database, and it is long enough to be looked at ".repeat(20));
  const fs = createFs(maaslOptions.parse({}), { roots: at.roots, state_dir });
  expect((await fs.readBytes(at.read("a"), 0, 10)).text).toBe("x");
  await expect(
    fs.write(at.write("a"), "y", { mode: "rewrite" }, { owner: "x", signal: new AbortController().signal }),
  ).rejects.toMatchObject({ code: "store_unavailable" });
  expect(at.get("a")).toBe("x");
});
