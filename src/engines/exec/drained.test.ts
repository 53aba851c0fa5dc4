import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createBed } from "../../../tests/harness/bed.ts";

interface Answer {
  data: { stdout: string; stderr: string; exit_code: number };
  meta: { isolation: string };
}

const run = { raw: true, timeout_s: 20 };

describe("the output of project code", () => {
  it("is whole when the program writes much and exits without waiting", async () => {
    await using bed = createBed();
    const script =
      'for (let i = 0; i < 8000; i++) { console.log("line " + i); if (i % 10 === 0) console.error("note " + i); } process.exit(3);';
    writeFileSync(join(bed.root, "log.mjs"), script);
    const { data } = await bed.payload<Answer>("run_cmd", { argv: ["node", "log.mjs"], ...run });
    expect(data.exit_code).toBe(3);
    expect(data.stdout.trim().split("\n")).toHaveLength(8000);
    expect(data.stderr.trim().split("\n")).toHaveLength(800);
  });

  it("comes with the exit code and signal it ended with", async () => {
    await using bed = createBed();
    writeFileSync(
      join(bed.root, "end.py"),
      "import os, sys\nprint('before', flush=True)\nos.kill(os.getpid(), int(sys.argv[1]))\n",
    );
    const { data } = await bed.payload<Answer>("run_cmd", { argv: ["python3", "end.py", "9"], ...run });
    expect([data.stdout, data.exit_code]).toEqual(["before\n", 137]);
  });

  it("does not wait for a daemon that the program left with its pipes", async () => {
    await using bed = createBed();
    writeFileSync(
      join(bed.root, "daemon.py"),
      "import subprocess\nsubprocess.Popen(['sleep', '60'], start_new_session=True)\nprint('started')\n",
    );
    const { data } = await bed.payload<Answer & { data: { timed_out: boolean } }>("run_cmd", {
      argv: ["python3", "daemon.py"],
      ...run,
    });
    expect(data).toMatchObject({ stdout: "started\n", exit_code: 0, timed_out: false });
  });

  it("takes what it is given on its input", async () => {
    await using bed = createBed();
    const { data } = await bed.payload<Answer>("run_cmd", {
      argv: ["python3", "-c", "print(input() * 2)"],
      stdin: "ab\n",
      ...run,
    });
    expect(data.stdout).toBe("abab\n");
  });
});
