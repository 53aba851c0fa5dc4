import { spawn } from "node:child_process";
import { existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { createRoots } from "../../base/path/index.ts";
import { gone, ME, OTHER, type TestExec, testExec, there } from "./test-exec.ts";

const signal = new AbortController().signal;

async function start(
  test: TestExec,
  argv: readonly string[],
  more: { pty?: boolean; wait_for?: string; wait_s?: number } = {},
) {
  return test.exec.processes.start(ME, await test.exec.allow({ argv }), { pty: false, wait_s: 10, signal, ...more });
}

const read = (
  test: TestExec,
  proc_id: string,
  more: { cursor?: number; wait_for?: string; wait_s?: number; max_bytes?: number } = {},
) => test.exec.processes.read(ME, proc_id, { wait_s: 10, max_bytes: 32_768, signal, ...more });

describe("a background process", () => {
  it("talks line by line", async () => {
    await using test = testExec();
    const { proc_id, pid, state } = await start(test, ["cat"], { wait_s: 0 });
    expect(state).toBe("running");
    expect(test.exec.list(ME, undefined, 5000).find((row) => row.pid === pid)).toMatchObject({ proc_id });
    await test.exec.processes.send(ME, proc_id, "one\n", signal);
    expect((await read(test, proc_id, { wait_for: "one" })).output).toBe("one\n");
    await test.exec.processes.send(ME, proc_id, "two\n", signal);
    expect((await read(test, proc_id, { wait_for: "two" })).output).toBe("two\n");
    expect(await test.exec.processes.stop(ME, proc_id, "SIGTERM")).toMatchObject({ state: "exited", exit_code: 143 });
    await expect(test.exec.processes.send(ME, proc_id, "x", signal)).rejects.toMatchObject({ code: "resource_busy" });
  });

  it("loses and repeats nothing, read by cursor in small pages", async () => {
    await using test = testExec();
    const { proc_id, output, cursor } = await start(test, ["seq", "1", "20000"], { wait_s: 0 });
    let all = output;
    let at = cursor;
    for (;;) {
      const page = await read(test, proc_id, { cursor: at, max_bytes: 1000 });
      all += page.output;
      at = page.cursor;
      if (page.state === "exited" && page.output === "") break;
    }
    expect(all).toBe(Array.from({ length: 20_000 }, (_, n) => `${n + 1}\n`).join(""));
    expect((await read(test, proc_id, { cursor: 0, max_bytes: 4 })).output).toBe("1\n2\n");
  });

  it("has a terminal when it asks for one", async () => {
    await using test = testExec();
    const script =
      "console.log('tty', process.stdout.isTTY, process.argv[1]); process.stdin.on('data', (d) => { console.log('got', String(d).trim()); process.exit(4) })";
    const odd = `a'b "c" $HOME \`id\` ;|`;
    const { proc_id, output } = await start(test, ["node", "-e", script, odd], { pty: true, wait_for: "tty" });
    expect(output).toContain(`tty true ${odd}`);
    await test.exec.processes.send(ME, proc_id, "hello\n", signal);
    const end = await read(test, proc_id, { wait_for: "got hello" });
    expect(end.output).toContain("got hello");
    expect((await read(test, proc_id, { wait_for: "never", wait_s: 10 })).exit_code).toBe(4);
  });

  it("belongs to who started it", async () => {
    await using test = testExec();
    const { proc_id, pid } = await start(test, ["sleep", "600"], { wait_s: 0 });
    for (const attempt of [
      () => test.exec.processes.send(OTHER, proc_id, "x", signal),
      () => test.exec.processes.read(OTHER, proc_id, { wait_s: 0, max_bytes: 10, signal }),
      () => test.exec.processes.stop(OTHER, proc_id, "SIGTERM"),
    ])
      await expect(attempt()).rejects.toMatchObject({ code: "session_not_found" });
    expect(test.exec.list(OTHER, undefined, 5000).some((row) => row.proc_id !== undefined)).toBe(false);
    expect(() => test.exec.kill(OTHER, pid, "SIGTERM")).toThrow(/did not start it/);
  });

  it("is one of a few", async () => {
    await using test = testExec({ proc_max: 2 });
    const first = await start(test, ["sleep", "600"], { wait_s: 0 });
    await start(test, ["sleep", "600"], { wait_s: 0 });
    await expect(start(test, ["sleep", "600"])).rejects.toMatchObject({ code: "limit_exceeded" });
    await test.exec.processes.stop(ME, first.proc_id, "SIGKILL");
    expect((await start(test, ["sleep", "600"], { wait_s: 0 })).state).toBe("running");
  });

  it("is stopped when nobody asks for it any more", async () => {
    await using test = testExec({ proc_idle_timeout: 0.4 });
    const mark = `60${process.pid}.25`;
    await start(test, ["sleep", mark], { wait_s: 0 });
    expect(await gone(mark)).toBe(true);
  });

  it("is bounded in what it may keep for a reader", async () => {
    await using test = testExec();
    const { proc_id } = await start(test, ["node", "-e", "process.stdout.write('x'.repeat(5e6)); console.log('end')"], {
      wait_for: "end",
    });
    const late = await read(test, proc_id, { cursor: 0, wait_for: "end", max_bytes: 1 << 20 });
    expect(late.dropped).toBeGreaterThan(3e6);
  });

  it("is waited for until a text comes, and no longer than asked", async () => {
    await using test = testExec();
    const { proc_id } = await start(test, ["sleep", "600"], { wait_s: 0 });
    expect(await read(test, proc_id, { wait_for: "x", wait_s: 0.1 })).toMatchObject({ output: "", state: "running" });
    const control = new AbortController();
    setTimeout(() => control.abort(new Error("stop waiting")), 50);
    await expect(
      test.exec.processes.read(ME, proc_id, { wait_for: "x", wait_s: 60, max_bytes: 10, signal: control.signal }),
    ).rejects.toThrow("stop waiting");
  });
});

describe("a signal by number", () => {
  it("reaches only processes that are ours to signal", async () => {
    await using test = testExec();
    const foreign = spawn("sleep", ["600"], { stdio: "ignore" });
    try {
      expect(() => test.exec.kill(ME, 1, "SIGTERM")).toThrow(/process 1/);
      expect(() => test.exec.kill(ME, process.pid, "SIGTERM")).toThrow(/this server/);
      expect(() => test.exec.kill(ME, process.ppid, "SIGTERM")).toThrow(/this server/);
      expect(() => test.exec.kill(ME, 2 ** 22 + 1, "SIGTERM")).toThrow(/no process/);
      expect(() => test.exec.kill(ME, foreign.pid!, "SIGKILL")).toThrow(/did not start it/);
      await using open = testExec({ proc_kill_foreign: true });
      open.exec.kill(ME, foreign.pid!, "SIGKILL");
      await new Promise((resolve) => foreign.once("exit", resolve));
    } finally {
      foreign.kill("SIGKILL");
    }
  });

  it("reaches a process inside the sandbox by the number the list shows", async () => {
    await using test = testExec();
    const mark = `mark-${process.pid}-inner`;
    const { proc_id } = await start(test, ["node", "-e", `console.log("up"); setInterval(() => {}, 1e6) // ${mark}`], {
      wait_for: "up",
    });
    const row = test.exec
      .list(ME, undefined, 5000)
      .find(
        (each) => each.command.startsWith("node") || (each.command.includes(mark) && !each.command.includes("bwrap")),
      );
    expect(row).toMatchObject({ proc_id });
    test.exec.kill(ME, row!.pid, "SIGKILL");
    expect(await read(test, proc_id, { wait_for: "never" })).toMatchObject({ state: "exited", exit_code: 137 });
  });
});

describe("a dev server", () => {
  it("is started, waited for, queried, restarted and stopped, in a network that nobody else sees", async () => {
    await using test = testExec();
    writeFileSync(
      join(test.root, "server.mjs"),
      `import { createServer } from "node:http";
       const server = createServer((request, response) => { console.log("GET", request.url); response.end("hello from " + process.argv[2]); });
       server.listen(8123, "127.0.0.1", () => console.log("listening on 8123"));
       process.on("SIGTERM", () => { console.log("closing"); process.exit(0); });`,
    );
    const query = [
      "node",
      "-e",
      "fetch('http://127.0.0.1:8123/x').then((r) => r.text()).then(console.log, (e) => console.log('failed', e.cause?.code))",
    ];
    const first = await start(test, ["node", "server.mjs", "one"], { wait_for: "listening" });
    expect(first.output).toBe("listening on 8123\n");
    expect((await test.run(query)).stdout).toBe("hello from one\n");
    expect((await read(test, first.proc_id, { wait_for: "GET" })).output).toBe("GET /x\n");
    await expect(fetch("http://127.0.0.1:8123/")).rejects.toThrow();

    expect(await test.exec.processes.stop(ME, first.proc_id, "SIGTERM")).toMatchObject({ exit_code: 0 });
    expect((await read(test, first.proc_id, { wait_for: "closing" })).output).toBe("closing\n");
    expect((await test.run(query)).stdout).toBe("failed ECONNREFUSED\n");

    const second = await start(test, ["node", "server.mjs", "two"], { wait_for: "listening" });
    expect((await test.run(query)).stdout).toBe("hello from two\n");
    const allowed = await test.exec.allow({ argv: query });
    expect((await test.exec.run(OTHER, allowed, { timeout_s: 30, signal })).stdout).toBe("failed ECONNREFUSED\n");
    await test.exec.processes.stop(ME, second.proc_id, "SIGTERM");
  });
});

describe("the server's own end", () => {
  it.each(["bwrap", "host"])("by kill -9 leaves no process behind (%s)", async (level) => {
    const mark = `llmc-killed-${level}-${process.pid}`;
    const reader = `600.${level === "bwrap" ? 1 : 2}${process.pid}`;
    const child = spawn(process.execPath, [join(import.meta.dirname, "killed.child.ts"), level, mark], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const root = await new Promise<string>((resolve) =>
      child.stdout.once("data", (data) => resolve(String(data).trim())),
    );
    try {
      // Two scripts, each with its children.
      expect(await there(mark, 6)).toBe(true);
      expect(await there(reader)).toBe(true);
      child.kill("SIGKILL");
      expect(await gone(mark)).toBe(true);
      expect(await gone(reader)).toBe(true);
      if (level === "bwrap") expect(existsSync(join(root, ".mcp.json"))).toBe(true);
      // The names that guarded the root go with the next start.
      await using next = testExec({}, { roots: createRoots({ roots: [root] }), state_dir: join(root, ".llmc") });
      await next.run(["node", "-e", ""]);
      expect(readdirSync(root)).toEqual([".llmc"]);
    } finally {
      child.kill("SIGKILL");
      rmSync(dirname(root), { recursive: true, force: true });
    }
  });

  it("in peace leaves none either", async () => {
    const mark = `61${process.pid}.25`;
    {
      await using test = testExec();
      await start(test, ["sleep", mark], { wait_s: 0 });
      await start(test, ["node", "-e", `setInterval(() => {}, 1e6) // ${mark}`], { wait_s: 0 });
    }
    expect(await gone(mark)).toBe(true);
  });
});

describe("a snapshot of the machine", () => {
  it("tells processor, load, memory and disks", async () => {
    await using test = testExec();
    const snapshot = await test.exec.snapshot(signal);
    expect(snapshot.cpu.count).toBeGreaterThan(0);
    expect(snapshot.memory.total_mb).toBeGreaterThan(snapshot.memory.available_mb);
    expect(snapshot.disks[0]).toMatchObject({ path: test.root });
    expect(snapshot.summary).toMatch(/cpu .*memory .*disk/);
  });
});
