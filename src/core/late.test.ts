import { describe, expect, it } from "vitest";
import { createBed, LOCAL } from "../../tests/harness/bed.ts";
import { mintPrincipal } from "../base/principal.ts";
import type { Handles } from "../engines/handles/types.ts";
import { createLateness, type RunningJobs } from "./late.ts";

const never = new AbortController().signal;

function late(handles: Handles, soft_deadline_s = 0.02, max_jobs = 16) {
  return {
    soft_deadline_s,
    max_jobs,
    handles: async () => handles,
    render: (payload: unknown) => JSON.stringify(payload),
  };
}

function afterwards(signal: AbortSignal, go: Promise<unknown>): Promise<unknown> {
  return new Promise((resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason));
    void go.then(resolve);
  });
}

async function handedOver(jobs: RunningJobs, handles: Handles, go: Promise<unknown>, owner = LOCAL): Promise<string> {
  const reply = await jobs.inTime(owner, "slow", never, ({ control }) => afterwards(control.signal, go), late(handles));
  return (reply as { handle: string }).handle;
}

describe("a call that is late", () => {
  it("answers at once when it is done in time", async () => {
    await using bed = createBed();
    const answer = await createLateness().inTime(
      LOCAL,
      "quick",
      never,
      async () => 42,
      late(await bed.app.engines.handles(), 30),
    );
    expect(answer).toBe(42);
  });

  it("hands out a handle, runs on, reports progress and keeps its result", async () => {
    await using bed = createBed();
    const handles = await bed.app.engines.handles();
    const jobs = createLateness();
    const finish = Promise.withResolvers<unknown>();
    let tell: (text: string) => void = () => {};
    const reply = (await jobs.inTime(
      LOCAL,
      "slow",
      never,
      async (run) => {
        tell = (text) => run.job()?.progress(text);
        return await finish.promise;
      },
      late(handles),
    )) as { handle: string; state: string };
    expect(reply.state).toBe("running");
    tell("half way");
    expect(await handles.info(LOCAL, reply.handle)).toMatchObject({ state: "running", progress: "half way" });
    finish.resolve({ answer: 42 });
    await handles.wait(LOCAL, reply.handle, 10, never);
    expect((await handles.readLines(LOCAL, reply.handle, 0, 10)).content).toBe('{"answer":42}');
  });

  it("is stopped by cancelling its handle, and by no one else", async () => {
    await using bed = createBed();
    const handles = await bed.app.engines.handles();
    const handle = await handedOver(createLateness(), handles, new Promise(() => {}));
    await expect(handles.cancel(mintPrincipal("token", "other"), handle)).rejects.toMatchObject({
      code: "handle_expired",
    });
    expect(await handles.cancel(LOCAL, handle)).toBe(true);
    await handles.wait(LOCAL, handle, 10, never);
    expect((await handles.info(LOCAL, handle)).state).toBe("cancelled");
  });

  it("is refused a handle above the caller's limit, and stopped", async () => {
    await using bed = createBed();
    const handles = await bed.app.engines.handles();
    const jobs = createLateness();
    const first = await handedOver(jobs, handles, new Promise(() => {}));
    const second = jobs.inTime(
      LOCAL,
      "slow",
      never,
      ({ control }) => afterwards(control.signal, new Promise(() => {})),
      late(handles, 0.02, 1),
    );
    await expect(second).rejects.toMatchObject({ code: "concurrency_limited" });
    await handedOver(jobs, handles, new Promise(() => {}), mintPrincipal("token", "other"));
    await handles.cancel(LOCAL, first);
    jobs.close();
  });

  it("still follows its client's cancel before the handle is out", async () => {
    await using bed = createBed();
    const client = new AbortController();
    const call = createLateness().inTime(
      LOCAL,
      "slow",
      client.signal,
      ({ control }) => afterwards(control.signal, new Promise(() => {})),
      late(await bed.app.engines.handles(), 60),
    );
    client.abort(new Error("cancelled by the client"));
    await expect(call).rejects.toThrow("cancelled by the client");
  });
});
