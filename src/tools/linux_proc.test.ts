import { describe, expect, it } from "vitest";
import { OTHER } from "../engines/exec/test-exec.ts";
import { linux_proc_kill } from "./linux_proc_kill.ts";
import { linux_proc_list } from "./linux_proc_list.ts";
import { linux_proc_read } from "./linux_proc_read.ts";
import { linux_proc_send } from "./linux_proc_send.ts";
import { linux_proc_start } from "./linux_proc_start.ts";
import { linux_proc_stop } from "./linux_proc_stop.ts";
import { linux_sys_snapshot } from "./linux_sys_snapshot.ts";
import { commandBed } from "./test-commands.ts";

interface Started {
  proc_id: string;
  pid: number;
  cursor: number;
}

describe("the process tools", () => {
  it("start, send, read, list and stop", async () => {
    await using bed = commandBed();
    const started = await bed.call<Started>(linux_proc_start, { command: "cat", wait_s: 0 });
    expect(started).toMatchObject({ state: "running", output: "" });
    const { proc_id, pid } = started;
    expect(await bed.call(linux_proc_send, { proc_id, input: "hello" })).toEqual({ ok: true });
    expect(await bed.call(linux_proc_read, { proc_id, wait_for: "hello", wait_s: 10 })).toEqual({
      output: "hello\n",
      cursor: 6,
      state: "running",
    });
    expect(await bed.call(linux_proc_send, { proc_id, input: "x", newline: false })).toEqual({ ok: true });
    expect(await bed.call(linux_proc_read, { proc_id, wait_s: 10 })).toMatchObject({ output: "x" });
    expect(await bed.call(linux_proc_read, { proc_id, cursor: 0, wait_s: 0 })).toMatchObject({ output: "hello\nx" });
    const { processes } = await bed.call<{ processes: { pid: number; proc_id?: string }[] }>(linux_proc_list, {
      max_results: 5,
    });
    expect(processes[0]).toMatchObject({ pid, proc_id, command: "cat" });
    expect(await bed.call(linux_proc_stop, { proc_id, signal: "INT" })).toEqual({ state: "exited", exit_code: 130 });
    expect(await bed.call(linux_proc_read, { proc_id, wait_s: 0 })).toMatchObject({ state: "exited", exit_code: 130 });
  });

  it("kill by number what is ours, and nothing else", async () => {
    await using bed = commandBed();
    const { pid, proc_id } = await bed.call<Started>(linux_proc_start, { command: "sleep 600", wait_s: 0 });
    await expect(bed.call(linux_proc_kill, { pid }, { principal: OTHER })).rejects.toMatchObject({
      code: "permission_denied",
    });
    for (const other of [1, process.pid, process.ppid])
      await expect(bed.call(linux_proc_kill, { pid: other })).rejects.toMatchObject({ code: "permission_denied" });
    for (const bad of [0, -1, 1.5])
      await expect(bed.call(linux_proc_kill, { pid: bad })).rejects.toMatchObject({ code: "invalid_args" });
    expect(await bed.call(linux_proc_kill, { pid, signal: "KILL" })).toEqual({ ok: true });
    expect(await bed.call(linux_proc_read, { proc_id, wait_for: "never", wait_s: 10 })).toMatchObject({
      exit_code: 137,
    });
  });

  it("go through the gate", async () => {
    await using bed = commandBed();
    await expect(bed.call(linux_proc_start, { command: "bash" })).rejects.toMatchObject({ code: "command_denied" });
    await expect(bed.call(linux_proc_start, {})).rejects.toMatchObject({ code: "invalid_args" });
    await expect(bed.call(linux_proc_read, { proc_id: "proc_x" })).rejects.toMatchObject({ code: "session_not_found" });
    await expect(bed.call(linux_proc_list, { user: "no-such-user" })).rejects.toMatchObject({ code: "invalid_args" });
  });

  it("tell about the machine", async () => {
    await using bed = commandBed();
    expect(await bed.call(linux_sys_snapshot)).toMatchObject({
      load: [expect.any(Number), expect.any(Number), expect.any(Number)],
      summary: expect.stringContaining("memory"),
    });
  });
});
