import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { OTHER } from "../engines/exec/test-exec.ts";
import type { CommandAnswer } from "./commands.ts";
import { run_cmd } from "./run_cmd.ts";
import { commandBed } from "./test-commands.ts";

describe("run_cmd", () => {
  it("answers with what the command printed and how it ended", async () => {
    await using bed = commandBed();
    writeFileSync(join(bed.test.root, "a.txt"), "hello\n");
    expect(await bed.call(run_cmd, { command: "grep -n hello a.txt" })).toEqual({
      data: { stdout: "1:hello\n", stderr: "", exit_code: 0, signal: null, timed_out: false },
      meta: { mode: "passthrough", isolation: "process", duration_ms: expect.any(Number) },
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
    const { data, meta } = await bed.call<CommandAnswer>(run_cmd, { command: "seq 1 400000", raw: true });
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

  it("shortens what a model reads, and only that", async () => {
    await using bed = commandBed();
    const command = "seq 1 5000";
    const { data, meta } = await bed.call<CommandAnswer>(run_cmd, { command });
    expect(meta.mode).toBe("enriched");
    expect(data.stdout.length).toBeLessThan(9000);
    expect(data.stdout).toContain("5000 lines");
    expect((await bed.handle(meta.handle!)).endsWith("4999\n5000\n")).toBe(true);
    for (const [args, via] of [
      [{ command, raw: true }, "stdio"],
      [{ command: `te -i ${command}` }, "stdio"],
      [{ command }, "code"],
      [{ command }, "rest"],
    ] as const)
      expect(await bed.call(run_cmd, args, { via })).toMatchObject({ meta: { mode: "raw" } });
    expect(await bed.call(run_cmd, { command, raw: false }, { via: "rest" })).toMatchObject({
      meta: { mode: "enriched" },
    });
  });

  it("answers raw when the envelope is switched off", async () => {
    await using bed = commandBed({}, {}, { enabled: false });
    expect(await bed.call(run_cmd, { command: "seq 1 5000" })).toMatchObject({ meta: { mode: "raw" } });
  });

  it("gives the rest of an answer to te --handle, page by page, and to its owner only", async () => {
    await using bed = commandBed();
    const { meta } = await bed.call<CommandAnswer>(run_cmd, { command: "seq 1 20000" });
    let all = "";
    for (let chunk = 0; ; chunk++) {
      const page = await bed.call<CommandAnswer>(run_cmd, { command: `te --handle ${meta.handle} --chunk ${chunk}` });
      all += page.data.stdout;
      if (!page.meta.truncated) break;
      expect(page.data.stderr).toContain(`te --handle ${meta.handle} --chunk ${chunk + 1}`);
    }
    expect(all).toBe(Array.from({ length: 20000 }, (_, n) => `${n + 1}\n`).join(""));
    const asked = { argv: ["te", "--handle", meta.handle!] };
    expect(await bed.call(run_cmd, asked)).toMatchObject({ data: { stdout: expect.stringMatching(/^1\n2\n/) } });
    await expect(bed.call(run_cmd, asked, { principal: OTHER })).rejects.toMatchObject({ code: "handle_expired" });
    const listed = await bed.call<CommandAnswer>(run_cmd, { command: "te --list-handles" });
    expect(listed.data.stdout).toContain(meta.handle);
    expect(await bed.call(run_cmd, { command: "te --list-handles" }, { principal: OTHER })).toMatchObject({
      data: { stdout: "" },
    });
  });

  it("sends a command behind te through the same gate", async () => {
    await using bed = commandBed();
    expect(await bed.call(run_cmd, { command: "te --json echo 'a b'" })).toMatchObject({ data: { stdout: "a b\n" } });
    for (const command of ["te wget x", "te sudo id", "te te sh", "te -- sh -c id"])
      await expect(bed.call(run_cmd, { command })).rejects.toMatchObject({ code: "command_denied" });
    await expect(bed.call(run_cmd, { argv: ["te", "env", "id"] })).rejects.toMatchObject({ code: "command_denied" });
    await expect(bed.call(run_cmd, { command: "te --nothing ls" })).rejects.toMatchObject({ code: "invalid_args" });
    await expect(bed.call(run_cmd, { command: "te" })).rejects.toMatchObject({ code: "invalid_args" });
  });
});
