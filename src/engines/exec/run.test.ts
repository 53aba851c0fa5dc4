import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { gone, ME, testExec } from "./test-exec.ts";

describe("a reader", () => {
  it("runs on the host and tells how it ended", async () => {
    await using test = testExec();
    writeFileSync(join(test.root, "a.txt"), "one\ntwo\n");
    const result = await test.run("cat a.txt");
    expect(result).toMatchObject({
      stdout: "one\ntwo\n",
      stderr: "",
      exit_code: 0,
      signal: null,
      timed_out: false,
      truncated: false,
      isolation: "process",
    });
    expect((await test.run("cat missing.txt")).exit_code).toBe(1);
  });

  it("gets its stdin when there is one, and an end of file when there is none", async () => {
    await using test = testExec();
    expect((await test.run("cat", { stdin: "hello" })).stdout).toBe("hello");
    expect((await test.run("cat")).stdout).toBe("");
    expect((await test.run("true", { stdin: "x".repeat(1_000_000) })).exit_code).toBe(0);
  });

  it("runs in the folder that is asked for", async () => {
    await using test = testExec();
    mkdirSync(join(test.root, "sub"));
    expect((await test.run("pwd", { cwd: "sub" })).stdout).toBe(`${test.root}/sub\n`);
    await expect(test.run("pwd", { cwd: "../outside" })).rejects.toMatchObject({ code: "path_denied" });
    await expect(test.run("pwd", { cwd: "nowhere" })).rejects.toMatchObject({ code: "file_not_found" });
  });

  it("is ended at its deadline", async () => {
    await using test = testExec();
    const result = await test.run("sleep 61", { timeout_s: 0.2 });
    expect(result).toMatchObject({ timed_out: true, signal: "SIGTERM", exit_code: 143 });
  });

  it("is ended when the call is cancelled", async () => {
    await using test = testExec();
    const control = new AbortController();
    setTimeout(() => control.abort(), 100);
    expect(await test.run("sleep 61", { signal: control.signal })).toMatchObject({ cancelled: true, timed_out: false });
  });

  it("searches without reading the state folder", async () => {
    await using test = testExec();
    writeFileSync(join(test.root, ".llmc/secret.txt"), "needle in state\n");
    writeFileSync(join(test.root, "a.txt"), "needle in a\n");
    for (const command of [
      "rg -uuu needle",
      "rg -uuu -g '.llmc/**' -g '**' needle",
      "grep -r needle .",
      "grep -r needle",
    ])
      expect((await test.run(command)).stdout, command).not.toContain("in state");
    await expect(test.run("cat .llmc/secret.txt")).rejects.toMatchObject({ code: "path_denied" });
  });
});

describe("project code", () => {
  it("runs in the sandbox, where the root is writable and the rest is not there", async () => {
    await using test = testExec();
    writeFileSync(join(test.outside, "canary"), "CANARY");
    const script = `
      const fs = require("fs");
      fs.writeFileSync("made.txt", "yes");
      const tries = {
        outside: () => fs.readFileSync(${JSON.stringify(join(test.outside, "canary"))}, "utf8"),
        shadow: () => fs.readFileSync("/etc/shadow", "utf8"),
        usr: () => fs.writeFileSync("/usr/x", ""),
        hooks: () => { fs.mkdirSync(".git/hooks", { recursive: true }); },
        mcp: () => fs.writeFileSync(".mcp.json", "{}"),
        toml: () => fs.writeFileSync("llmc.toml", ""),
        vscode: () => fs.mkdirSync(".vscode/x", { recursive: true }),
        state: () => fs.readFileSync(".llmc/secret", "utf8") || "",
        home: () => fs.readdirSync(require("os").homedir() + "/.ssh"),
      };
      for (const [name, attempt] of Object.entries(tries)) {
        try { attempt(); console.log("LEAK " + name); } catch (e) { console.log(name + " " + e.code); }
      }`;
    writeFileSync(join(test.root, ".llmc/secret"), "STATE");
    const result = await test.run(["node", "-e", script]);
    expect(result.stderr).toBe("");
    expect(result.isolation).toBe("bwrap");
    expect(result.stdout).not.toContain("LEAK");
    expect(result.stdout.trim().split("\n")).toHaveLength(9);
    expect(readFileSync(join(test.root, "made.txt"), "utf8")).toBe("yes");
    expect(readdirSync(test.root).sort()).toEqual([".llmc", "made.txt"]);
  });

  it("sees no process but its own, and nothing of the server's environment", async () => {
    await using test = testExec({}, { env: { ...process.env, CANARY_TOKEN: "CANARY-1" } });
    const script = `
      const fs = require("fs");
      console.log(JSON.stringify(process.env));
      for (const pid of fs.readdirSync("/proc").filter((n) => /^\\d+$/.test(n)))
        try { console.log(pid, fs.readFileSync("/proc/" + pid + "/environ", "utf8")); } catch {}
      console.log("pids", fs.readdirSync("/proc").filter((n) => /^\\d+$/.test(n)).length);`;
    const { stdout } = await test.run(["node", "-e", script], {
      session: { agent_id: "agent", session_id: "s\n1", model: "m" },
    });
    expect(stdout).not.toContain("CANARY");
    expect(stdout).toContain('"TE_AGENT_ID":"agent"');
    expect(stdout).toContain('"TE_SESSION_ID":"s 1"');
    expect(stdout).toMatch(/pids [1-9]\n/);
  });

  it("cannot reach the network, unless the operator allows it", async () => {
    const { createServer } = await import("node:net");
    const server = createServer((socket) => socket.end("reached"));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as { port: number };
    const script = `require("net").connect(${port}, "127.0.0.1").on("data", (d) => console.log(String(d))).on("error", (e) => console.log(e.code))`;
    try {
      await using closed = testExec();
      expect((await closed.run(["node", "-e", script])).stdout).toBe("ECONNREFUSED\n");
      await using open = testExec({ allow_outbound_network: true });
      expect((await open.run(["node", "-e", script])).stdout).toBe("reached\n");
    } finally {
      await new Promise((resolve) => server.close(resolve));
    }
  });

  it("leaves no descendant behind: not after its end, not after a timeout, whatever it forks", async () => {
    await using test = testExec();
    const mark = `llmc-mark-${process.pid}-${Date.now()}`;
    const script = `
      const { spawn } = require("child_process");
      process.on("SIGTERM", () => {});
      for (const detached of [false, true]) spawn(process.execPath, ["-e", "process.on('SIGTERM',()=>{}); setInterval(()=>{}, 1e6) // ${mark}"], { detached, stdio: "ignore" }).unref();
      if (process.argv[1] === "stay") setInterval(() => {}, 1e6); else setTimeout(() => process.exit(3), 300);`;
    expect((await test.run(["node", "-e", script])).exit_code).toBe(3);
    expect(await gone(mark)).toBe(true);
    const result = await test.run(["node", "-e", script, "stay"], { timeout_s: 0.5 });
    expect(result).toMatchObject({ timed_out: true });
    expect(await gone(mark)).toBe(true);
  });

  it("may end in peace at its deadline", async () => {
    await using test = testExec();
    const result = await test.run(
      [
        "node",
        "-e",
        "process.on('SIGTERM',()=>{console.log('bye');process.exit(7)});setInterval(()=>{},1e6);console.log('up')",
      ],
      { timeout_s: 1 },
    );
    expect(result).toMatchObject({ stdout: "up\nbye\n", timed_out: true, exit_code: 7 });
  });

  it("is refused with the reason where there is no sandbox", async () => {
    await using test = testExec({}, { bwrap: null });
    await expect(test.run("node -e 1")).rejects.toMatchObject({
      code: "isolation_required",
      message: expect.stringContaining("not installed"),
    });
    expect(await test.exec.isolation()).toMatchObject({ level: "none", orphans: "process group" });
  });

  it("is refused when bubblewrap is there and does not work", async () => {
    await using test = testExec({}, { bwrap: "/bin/false" });
    await expect(test.run("node -e 1")).rejects.toMatchObject({ code: "isolation_required" });
    // One that runs everything and holds nothing.
    writeFileSync(
      join(test.outside, "bwrap"),
      '#!/bin/sh\nwhile [ "$1" != "--" ]; do shift; done; shift; exec "$@"\n',
      { mode: 0o755 },
    );
    await using loose = testExec({}, { bwrap: join(test.outside, "bwrap") });
    await expect(loose.run("node -e 1")).rejects.toMatchObject({
      code: "isolation_required",
      message: expect.stringContaining("LEAK"),
    });
  });

  it("runs without one in a place the operator vouches for, and says so", async () => {
    await using isolated = testExec({}, { bwrap: null, isolated: true });
    expect(await isolated.run("node -p 1")).toMatchObject({ stdout: "1\n", isolation: "isolated" });
    await using host = testExec({ run_cmd_trust: "host" }, { bwrap: null });
    expect(await host.run("node -p 1")).toMatchObject({ stdout: "1\n", isolation: "host" });
  });

  it("leaves nothing in its group where there is no sandbox", async () => {
    await using test = testExec({ run_cmd_trust: "host" }, { bwrap: null });
    const mark = `llmc-mark-${process.pid}-${Date.now()}`;
    const script = `require("child_process").spawn(process.execPath, ["-e", "process.on('SIGTERM',()=>{}); setInterval(()=>{}, 1e6) // ${mark}"], { stdio: "inherit" }).unref(); setTimeout(() => process.exit(0), 200)`;
    expect((await test.run(["node", "-e", script])).exit_code).toBe(0);
    expect(await gone(mark)).toBe(true);
  });
});

describe("output", () => {
  it("is held in bounds, with its beginning, its end and a handle to all of it", async () => {
    await using test = testExec();
    const kept: Uint8Array[] = [];
    const result = await test.run("seq 1 300000", {
      max_bytes: 1000,
      keep: async (output) => {
        for await (const chunk of output) kept.push(chunk);
        return "res_test";
      },
    });
    expect(result.truncated).toBe(true);
    expect(result.handle).toBe("res_test");
    expect(result.stdout.startsWith("1\n2\n3\n")).toBe(true);
    expect(result.stdout.endsWith("299999\n300000\n")).toBe(true);
    expect(result.stdout).toMatch(/bytes left out/);
    const whole = Buffer.concat(kept).toString();
    expect(whole.split("\n")).toHaveLength(300_001);
  });

  it("needs no handle when it is short", async () => {
    await using test = testExec();
    const result = await test.run("echo hi", { keep: () => Promise.reject(new Error("not to be called")) });
    expect(result).toMatchObject({ stdout: "hi\n", handle: undefined });
  });

  it("survives a store that fails", async () => {
    await using test = testExec();
    const result = await test.run("seq 1 300000", {
      max_bytes: 1000,
      keep: () => Promise.reject(new Error("disk full")),
    });
    expect(result).toMatchObject({ exit_code: 0, truncated: true, handle: undefined });
  });
});

describe("pytest", () => {
  it("comes back as counts and failures with their places", async () => {
    await using test = testExec();
    mkdirSync(join(test.root, "tests"));
    writeFileSync(
      join(test.root, "tests/test_a.py"),
      [
        "import pytest",
        "def test_ok(): pass",
        "class TestB:",
        "    def test_bad(self):",
        "        x = 1",
        "        assert x == 2, '<&>'",
        "@pytest.mark.skip",
        "def test_skip(): pass",
        "@pytest.fixture",
        "def broken(): raise ValueError('no')",
        "def test_err(broken): pass",
      ].join("\n"),
    );
    const signal = new AbortController().signal;
    const report = await test.exec.pytest(ME, [], undefined, {
      timeout_s: 60,
      signal,
      keep: async (output) => {
        for await (const _ of output);
        return "res_all";
      },
    });
    expect(report).toMatchObject({ passed: 1, failed: 1, skipped: 1, errors: 1, exit_code: 1, handle: "res_all" });
    expect(report.failures[0]).toEqual({
      id: "tests/test_a.py::TestB::test_bad",
      file: "tests/test_a.py",
      line: 6,
      message: expect.stringContaining("AssertionError: <&>"),
    });
    expect(existsSync(join(test.root, ".pytest_cache"))).toBe(false);
  });
});
