import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { createSandboxBed, ME, OTHER, type SandboxBed } from "./test-sandbox.ts";

const session = async (bed: SandboxBed, more = {}) =>
  (await bed.sandbox.createSession(ME, { language: "python", auto_persist_globals: true, ...more })).session_id;
/** Long enough for what was answered to be stored. */
const stored = async (bed: SandboxBed, id: string) => {
  for (let tries = 0; tries < 3000; tries++) {
    const all = await bed.sandbox.sessions(ME);
    if ((all.find((one) => one.session_id === id)?.bytes ?? 0) > 0) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error("not stored");
};

const STATE = `
import re
class Counter:
    def __init__(self): self.n = 0
    def up(self):
        self.n += 1
        return self.n
def numbers():
    for i in range(10): yield i
c = Counter(); c.up()
g = numbers(); next(g); next(g)
word = re.compile(r"\\w+")
f = open("notes.txt", "w"); f.write("first "); f.flush()`;

describe("a session", () => {
  it("keeps variables, classes, generators and open files, and is forgotten by nobody else", async () => {
    await using bed = createSandboxBed();
    const id = await session(bed);
    await bed.within(id, STATE);
    expect((await bed.within(id, "[c.up(), next(g), word.findall('a b')]")).result).toEqual([2, 2, ["a", "b"]]);
    const other = { code: "c", language: "python", depth: 0, signal: new AbortController().signal } as const;
    await expect(
      bed.sandbox.execute(OTHER, { ...other, session: { kind: "named", session_id: id } }),
    ).rejects.toMatchObject({ code: "session_not_found" });
    await expect(bed.sandbox.destroySession(OTHER, id)).rejects.toMatchObject({ code: "session_not_found" });
    await expect(bed.sandbox.cancel(OTHER, id)).rejects.toMatchObject({ code: "session_not_found" });
    await expect(bed.sandbox.workspace(OTHER, id)).rejects.toMatchObject({ code: "session_not_found" });
    expect(await bed.sandbox.sessions(OTHER)).toEqual([]);
  });

  it("goes on after the server was stopped and started again", async () => {
    const first = createSandboxBed();
    const id = await session(first);
    const js = await session(first, { language: "typescript" });
    await first.within(id, STATE);
    await first.within(
      js,
      "let n = 1; class A { v = 2 }; const a = new A(); function* g() { yield 1; yield 2 } const it = g(); it.next()",
      {
        language: "javascript",
      },
    );
    await using second = await first.restart();
    expect((await second.sandbox.sessions(ME)).map(({ state }) => state)).toEqual(["hibernated", "hibernated"]);
    const code = "f.write('second'); f.close()\n[c.up(), next(g), open('notes.txt').read()]";
    expect((await second.within(id, code)).result).toEqual([2, 2, "first second"]);
    expect((await second.within(js, "[++n, a.v, it.next().value]", { language: "javascript" })).result).toEqual([
      2, 2, 2,
    ]);
  });

  it("is copied by from_session, and the two go their own ways", async () => {
    await using bed = createSandboxBed();
    const id = await session(bed);
    await bed.within(id, "x = [1]\nopen('a', 'w').write('a')");
    const copy = await session(bed, { from_session: id });
    await bed.within(id, "x.append(2)");
    expect((await bed.within(copy, "x.append(3)\n[x, open('a').read()]")).result).toEqual([[1, 3], "a"]);
    expect((await bed.within(id, "x")).result).toEqual([1, 2]);
  });

  it("that is not to be kept ends with the server", async () => {
    const first = createSandboxBed();
    const id = await session(first, { auto_persist_globals: false });
    await first.within(id, "x = 1");
    await using second = await first.restart();
    await expect(second.within(id, "x")).rejects.toMatchObject({ code: "session_not_found" });
  });

  it("keeps the state before a run that was ended, and says so", async () => {
    await using bed = createSandboxBed();
    const id = await session(bed);
    await bed.within(id, "x = 41\nopen('a', 'w').write('kept')");
    const ended = await bed.within(id, "x = 0\nprint('begun')\nwhile True: pass", { timeout_s: 0.3 });
    expect(ended).toMatchObject({ exit_code: 124, stdout: "begun\n", limit: { name: "time" } });
    expect(ended.limit!.hint).toContain("the state before this call is kept");
    expect((await bed.within(id, "[x + 1, open('a').read()]")).result).toEqual([42, "kept"]);
  });

  it("comes back from the store when the whole child was killed", async () => {
    await using bed = createSandboxBed();
    const id = await session(bed);
    await bed.within(id, "x = 1");
    await stored(bed, id);
    process.kill(-bed.sandbox.pid()!, "SIGKILL");
    await expect.poll(() => bed.sandbox.pid()).toBeUndefined();
    expect((await bed.within(id, "x")).result).toBe(1);
  });

  it("in JavaScript goes on after it was stopped, and is stored all the same", async () => {
    await using bed = createSandboxBed();
    const id = await session(bed, { language: "javascript" });
    const js = { language: "javascript" } as const;
    await bed.within(id, "let n = 1", js);
    expect(await bed.within(id, "n = 2; for (;;);", { ...js, timeout_s: 0.2 })).toMatchObject({
      limit: { name: "time" },
    });
    await stored(bed, id);
    expect((await bed.within(id, "n", js)).result).toBe(2);
    const bent =
      "Object.defineProperty(globalThis, 'trap', { get() { throw new Error('bent') } }); Object.getOwnPropertyNames = 1; n";
    expect((await bed.within(id, bent, js)).result).toBe(2);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect((await bed.within(id, "n", js)).result).toBe(2);
    await using next = await bed.restart();
    expect((await next.within(id, "n", js)).result).toBe(2);
  });

  it("runs its calls one after the other", async () => {
    await using bed = createSandboxBed();
    const id = await session(bed);
    await bed.within(id, "log = []");
    await Promise.all(Array.from({ length: 20 }, (_, i) => bed.within(id, `log.append(${i})\nn = len(log)`)));
    expect((await bed.within(id, "log")).result).toEqual(Array.from({ length: 20 }, (_, i) => i));
    await expect(bed.within(id, "1", { language: "javascript" })).rejects.toMatchObject({ code: "invalid_args" });
  });

  it("shows its variables, imports and files, live and asleep", async () => {
    const first = createSandboxBed();
    const id = await session(first);
    await first.within(id, "import math, json as j\na = [1]\ndef f(): pass\nopen('x.txt', 'w').write('12')");
    const info = {
      files: [{ path: "x.txt", bytes: 2 }],
      variables: [
        { name: "a", type: "list" },
        { name: "f", type: "function" },
      ],
      imports: ["json", "math"],
      quota: { bytes: 64 * 1024 * 1024, files: 1000 },
    };
    expect(await first.sandbox.workspace(ME, id)).toMatchObject(info);
    await using second = await first.restart();
    expect(await second.sandbox.workspace(ME, id)).toMatchObject(info);
  });

  it("is emptied, ended, and ended with all others", async () => {
    await using bed = createSandboxBed();
    const id = await session(bed, { session_id: "mine" });
    expect(id).toBe("mine");
    await expect(session(bed, { session_id: "mine" })).rejects.toMatchObject({ code: "target_exists" });
    await expect(session(bed, { session_id: "none" })).rejects.toMatchObject({ code: "invalid_args" });
    await bed.within(id, "x = 1\nopen('f', 'w')");
    await bed.sandbox.resetWorkspace(ME, id);
    expect((await bed.within(id, "import os\n['x' in globals(), os.listdir()]")).result).toEqual([false, []]);
    await bed.sandbox.destroySession(ME, id);
    await expect(bed.within(id, "1")).rejects.toMatchObject({ code: "session_not_found" });
    await session(bed);
    await session(bed);
    expect(await bed.sandbox.resetAll(ME)).toBe(2);
    expect(await bed.sandbox.sessions(ME)).toEqual([]);
  });

  it("sleeps when idle, and wakes with its state", async () => {
    await using bed = createSandboxBed({ idle_s: 0.2 });
    const id = await session(bed);
    await bed.within(id, "x = 5");
    await expect.poll(async () => (await bed.sandbox.sessions(ME))[0]!.state).toBe("hibernated");
    expect((await bed.within(id, "x")).result).toBe(5);
  });

  it("ends when nobody used it for the time it is kept", async () => {
    const first = createSandboxBed({ hibernated_ttl_s: 0.2 });
    const id = await session(first);
    await first.within(id, "x = 5");
    await using second = await first.restart();
    await new Promise((resolve) => setTimeout(resolve, 250));
    await expect(second.within(id, "x")).rejects.toMatchObject({ code: "session_not_found" });
  });

  it("of an image that fits no more is refused with the reason", async () => {
    const first = createSandboxBed();
    const id = await session(first);
    await first.within(id, "x = 'a' * 40_000_000");
    await first.restart().then((bed) => bed.sandbox.close());
    await using small = createSandboxBed({ memory_mb: 16 }, first.state_dir);
    await expect(small.within(id, "len(x)")).rejects.toMatchObject({
      code: "session_not_found",
      message: expect.stringMatching(/cannot be resumed: it needs more memory/),
    });
  });

  it("stays within the number that one caller may have", async () => {
    await using bed = createSandboxBed();
    for (let made = 0; made < 16; made++) await session(bed);
    await expect(session(bed)).rejects.toMatchObject({ code: "limit_exceeded" });
  });
});

it("no process and no folder stays behind", async () => {
  const bed = createSandboxBed();
  await bed.once("1", "python");
  const pid = bed.sandbox.pid()!;
  await bed[Symbol.asyncDispose]();
  expect(existsSync(`/proc/${pid}`)).toBe(false);
  expect(existsSync(bed.state_dir)).toBe(false);
});
