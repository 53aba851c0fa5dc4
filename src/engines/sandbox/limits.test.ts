import { describe, expect, it } from "vitest";
import { createSandboxBed, ME } from "./test-sandbox.ts";

describe("limits", () => {
  it("of output, result and code are told with what to do", async () => {
    await using bed = createSandboxBed({
      stdout_bytes: 1024,
      stderr_bytes: 1024,
      result_bytes: 1024,
      code_bytes: 1024,
    });
    const printed = await bed.once("print('x' * 5000)\n7", "python");
    expect(printed).toMatchObject({ exit_code: 0, result: 7, limit: { name: "stdout" } });
    expect(printed.stdout).toBe("x".repeat(1024));
    expect(await bed.once("console.error('x'.repeat(5000))", "javascript")).toMatchObject({
      limit: { name: "stderr" },
    });
    expect(await bed.once("'x' * 5000", "python")).toMatchObject({ result: null, limit: { name: "result" } });
    expect(await bed.once("'x'.repeat(5000)", "javascript")).toMatchObject({ result: null, limit: { name: "result" } });
    await expect(bed.once("#".repeat(1025), "python")).rejects.toMatchObject({ code: "limit_exceeded" });
    expect(printed.limit!.hint).toMatch(/1024 bytes.*\/workspace/);
  });

  it("of time hold whatever a caller asks for", async () => {
    await using bed = createSandboxBed({ wall_s: 0.3 });
    const { limit, exit_code } = await bed.once("for (;;);", "javascript", { timeout_s: 100 });
    expect(limit).toEqual({ name: "time", hint: "Ended after 0.3 s. Do less in one call." });
    expect(exit_code).toBe(124);
    await bed.once("1", "python");
    expect(await bed.once("while True: pass", "python")).toMatchObject({ limit: { name: "time" } });
  });

  it("of depth and calls hold", async () => {
    await using bed = createSandboxBed({ max_depth: 1, max_tool_calls: 2 });
    await expect(bed.once("1", "python", { depth: 1 })).rejects.toMatchObject({ code: "limit_exceeded" });
    const code = "for i in range(5):\n    try:\n        tools.x()\n    except ToolError as e:\n        print(e.code)";
    expect(await bed.once(code, "python", { callTool: async () => 1 })).toMatchObject({
      stdout: "limit_exceeded\n".repeat(3),
      tool_calls: { x: 2 },
      limit: { name: "tool_calls" },
    });
  });
});

describe("a run is really stopped", () => {
  it.each([
    ["python", "while True: pass"],
    ["python", "tools.never()"],
    ["javascript", "for (;;);"],
    ["javascript", "await tools.never()"],
  ] as const)("in %s by its caller's signal: %s", async (language, code) => {
    await using bed = createSandboxBed();
    await bed.once("1", language);
    const caller = new AbortController();
    let told: AbortSignal | undefined;
    const callTool = (_name: string, _args: unknown, signal: AbortSignal) => {
      told = signal;
      return new Promise(() => {});
    };
    const run = bed.once(code, language, { signal: caller.signal, callTool });
    setTimeout(() => caller.abort(new Error("gone")), 100);
    await expect(run).rejects.toThrow("gone");
    if (code.includes("never")) expect(told!.aborted).toBe(true);
    expect((await bed.once("1 + 1", language)).result).toBe(2);
  });

  it("by cancel, which says whether there was something to stop", async () => {
    await using bed = createSandboxBed();
    for (const [language, code] of [
      ["python", "while True: pass"],
      ["javascript", "for (;;);"],
    ] as const) {
      const { session_id } = await bed.sandbox.createSession(ME, { language, auto_persist_globals: true });
      await bed.within(session_id, "x = 1", { language });
      expect(await bed.sandbox.cancel(ME, session_id)).toBe(false);
      const run = bed.within(session_id, code, { language });
      await expect.poll(() => bed.sandbox.cancel(ME, session_id)).toBe(true);
      expect(await run).toMatchObject({ exit_code: 130, limit: { name: "cancelled" } });
      expect((await bed.within(session_id, "x", { language })).result).toBe(1);
    }
  });

  it("by the end of the server", async () => {
    const bed = createSandboxBed();
    const run = bed.once("while True: pass", "python");
    await expect.poll(() => bed.sandbox.pid()).toBeDefined();
    await bed[Symbol.asyncDispose]();
    await expect(
      run.then(
        (end) => end.limit?.name ?? "ended",
        () => "refused",
      ),
    ).resolves.toMatch(/crash|refused/);
  });
});

it("bubblewrap that is asked for and not there is an error that says so", async () => {
  await using bed = createSandboxBed({ require: "bwrap" }, undefined, "/nowhere");
  await expect(bed.once("1", "javascript")).rejects.toMatchObject({ code: "isolation_required" });
  await using less = createSandboxBed({}, undefined, "/nowhere");
  expect((await less.sandbox.runtimes())[0]!.isolation).toBe("process");
  expect((await less.once("1 + 1", "javascript")).result).toBe(2);
});
