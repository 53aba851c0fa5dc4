import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Fault } from "../../base/fault.ts";
import { createRoots } from "../../base/path/index.ts";
import { mintPrincipal } from "../../base/principal.ts";
import { createHandles, type Handles, handlesOptions } from "./index.ts";

const me = mintPrincipal("local", 1000);
const never = new AbortController().signal;
let dir: string;
let open: Handles[];
let children: ChildProcess[];

function store(options: object = {}): Handles {
  const handles = createHandles(handlesOptions.parse(options), {
    state_dir: join(dir, "state"),
    roots: createRoots({ roots: [dir] }),
  });
  open.push(handles);
  return handles;
}

async function child(deed: string) {
  const process_ = spawn(process.execPath, [join(import.meta.dirname, "handles.child.ts"), dir, deed], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  children.push(process_);
  const lines = createInterface({ input: process_.stdout })[Symbol.asyncIterator]();
  const first = (await lines.next()).value as string;
  return { process: process_, first, next: async () => (await lines.next()).value as string };
}

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "llmc-jobs-"));
  mkdirSync(join(dir, "root"));
  open = [];
  children = [];
});
afterEach(async () => {
  for (const handles of open) await handles.close();
  for (const one of children) {
    if (one.exitCode !== null || one.signalCode !== null) continue;
    one.kill("SIGKILL");
    await once(one, "close");
  }
  rmSync(dir, { recursive: true });
});

describe("a job", () => {
  it("shows its progress, then its result", async () => {
    const handles = store();
    const job = await handles.startJob(me, { kind: "job" }, () => {});
    job.progress("1 of 2");
    expect(await handles.readLines(me, job.handle, 0, 5)).toMatchObject({
      content: "",
      meta: { state: "running", progress: "1 of 2" },
    });
    await job.done("result\n");
    expect(await handles.readLines(me, job.handle, 0, 5)).toMatchObject({
      content: "result\n",
      meta: { state: "done", progress: null, total_lines: 1 },
    });
  });

  it("that fails tells why", async () => {
    const handles = store();
    const job = await handles.startJob(me, { kind: "job" }, () => {});
    await job.failed(new Fault("timeout", "It took too long.", { hint: "Ask for less." }));
    expect(await handles.readLines(me, job.handle, 0, 5)).toMatchObject({
      content: "timeout: It took too long.\nAsk for less.",
      meta: { state: "failed" },
    });
  });

  it("is cancelled once, and only while it runs", async () => {
    const handles = store();
    let asked = 0;
    const job = await handles.startJob(me, { kind: "job" }, () => asked++);
    expect(await handles.cancel(me, job.handle)).toBe(true);
    expect(await handles.cancel(me, job.handle)).toBe(true);
    expect(asked).toBe(1);
    await job.failed(new Fault("timeout", "Aborted."));
    expect((await handles.info(me, job.handle)).state).toBe("cancelled");
    expect(await handles.cancel(me, job.handle)).toBe(false);
  });

  it("wakes who waits for it", async () => {
    const handles = store();
    const job = await handles.startJob(me, { kind: "job" }, () => {});
    const waited = handles.wait(me, job.handle, 600, never);
    await job.done("x");
    await waited;
    expect((await handles.info(me, job.handle)).state).toBe("done");
  });

  it("is waited for no longer than was asked, or until the caller goes", async () => {
    const handles = store();
    const job = await handles.startJob(me, { kind: "job" }, () => {});
    await handles.wait(me, job.handle, 0.05, never);
    await handles.wait(me, job.handle, 600, AbortSignal.abort());
    await handles.wait(me, job.handle, 600, AbortSignal.timeout(50));
    expect((await handles.info(me, job.handle)).state).toBe("running");
  });

  it("ends once", async () => {
    const handles = store();
    const job = await handles.startJob(me, { kind: "job" }, () => {});
    await job.done("first");
    await job.done("second");
    expect((await handles.readLines(me, job.handle, 0, 5)).content).toBe("first");
  });

  it("whose result does not fit is failed and says why", async () => {
    const handles = store({ max_bytes: 100_000 });
    const job = await handles.startJob(me, { kind: "job" }, () => {});
    await expect(job.done("x".repeat(100_001))).rejects.toBeInstanceOf(Fault);
    expect(await handles.info(me, job.handle)).toMatchObject({
      state: "failed",
      progress: expect.stringContaining("store_unavailable"),
    });
  });

  it("is not evicted while it runs, nor its result the moment it comes", async () => {
    const handles = store({ max_count: 2 });
    const job = await handles.startJob(me, { kind: "job" }, () => {});
    for (const text of ["1", "2", "3"]) await handles.put(me, text, { kind: "output" });
    expect((await handles.info(me, job.handle)).state).toBe("running");
    await job.done("late");
    await handles.put(me, "4", { kind: "output" });
    expect((await handles.readLines(me, job.handle, 0, 1)).content).toBe("late");
  });

  it("of a store that closes is interrupted", async () => {
    const handles = store();
    const job = await handles.startJob(me, { kind: "job" }, () => {});
    await handles.close();
    await job.done("too late");
    expect((await store().info(me, job.handle)).state).toBe("interrupted");
  });
});

describe("a job of another process", () => {
  it("is seen with its progress and cancelled from here", async () => {
    const there = await child("job");
    const handles = store();
    await expect.poll(async () => (await handles.info(me, there.first)).progress).toBe("half way");
    expect(await handles.cancel(me, there.first)).toBe(true);
    expect(await there.next()).toBe("cancelled");
  });

  it("that was killed reads as interrupted, and wakes who waits", async () => {
    const there = await child("job");
    const handles = store();
    const waited = handles.wait(me, there.first, 600, never);
    there.process.kill("SIGKILL");
    await waited;
    expect((await handles.info(me, there.first)).state).toBe("interrupted");
    expect(await handles.cancel(me, there.first)).toBe(false);
  });

  it("that was killed in the middle of a stream leaves no bytes behind", async () => {
    const there = await child("half");
    expect(there.first).toBe("half");
    there.process.kill("SIGKILL");
    await once(there.process, "close");
    const handles = store({ max_bytes: 1_000_000 });
    const ids = [await handles.put(me, "a", { kind: "output" }), await handles.put(me, "b", { kind: "output" })];
    for (const id of ids) expect((await handles.info(me, id)).bytes).toBe(1);
  });
});

it("many processes that open a new store at once all succeed", async () => {
  const ids = await Promise.all(Array.from({ length: 6 }, async () => (await child("put")).first));
  const handles = store();
  for (const id of ids) expect((await handles.readLines(me, id, 0, 1)).content).toBe("from the child\n");
});
