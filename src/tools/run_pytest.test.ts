import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { run_pytest } from "./run_pytest.ts";
import { commandBed } from "./test-commands.ts";

describe("run_pytest", () => {
  it("answers with counts and failures, and keeps the rest behind a handle", async () => {
    await using bed = commandBed();
    mkdirSync(join(bed.test.root, "t"));
    writeFileSync(join(bed.test.root, "t/test_a.py"), "def test_a(): pass\ndef test_b():\n    assert [1] == [2]\n");
    writeFileSync(join(bed.test.root, "t/test_c.py"), "def test_c(): pass\n");
    const report = await bed.call<{ handle: string }>(run_pytest, { timeout_s: 60 });
    expect(report).toMatchObject({ passed: 2, failed: 1, skipped: 0, errors: 0, exit_code: 1 });
    expect(report).toMatchObject({
      failures: [
        { id: "t/test_a.py::test_b", file: "t/test_a.py", line: 3, message: expect.stringContaining("[1] == [2]") },
      ],
    });
    expect(await bed.handle(report.handle)).toContain("1 failed, 2 passed");
    expect(await bed.call(run_pytest, { path: "t/test_c.py", args: ["-q"], timeout_s: 60 })).toMatchObject({
      passed: 1,
      failures: [],
      exit_code: 0,
    });
  });

  it("says what is wrong when there is no report", async () => {
    await using bed = commandBed();
    await expect(bed.call(run_pytest, { args: ["--no-such-flag"], timeout_s: 60 })).rejects.toMatchObject({
      code: "invalid_args",
      message: expect.stringContaining("no-such-flag"),
    });
    await expect(bed.call(run_pytest, { path: "/etc" })).rejects.toMatchObject({ code: "path_denied" });
    expect(await bed.call(run_pytest, { timeout_s: 60 })).toMatchObject({ passed: 0, exit_code: 5 });
  });

  it("ends at its deadline", async () => {
    await using bed = commandBed();
    writeFileSync(join(bed.test.root, "test_slow.py"), "import time\ndef test_s(): time.sleep(60)\n");
    await expect(bed.call(run_pytest, { timeout_s: 2 })).rejects.toMatchObject({ code: "timeout" });
  });

  it("is not fooled by a report that the tests write themselves, or by its absence", async () => {
    await using bed = commandBed();
    writeFileSync(
      join(bed.test.root, "test_link.py"),
      "import os, atexit\ndef test_x():\n    atexit.register(lambda: (os.remove('/run/llmc/report.xml'), os.symlink('/etc/shadow', '/run/llmc/report.xml')))\n",
    );
    await expect(bed.call(run_pytest, { timeout_s: 60 })).rejects.toMatchObject({ code: "invalid_args" });
  });
});
