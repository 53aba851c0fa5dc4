import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Fault } from "../../../src/base/fault.ts";
import { type TestExec, testExec } from "../../../src/engines/exec/test-exec.ts";
import { createBed } from "../../harness/bed.ts";
import { type Hostile, makeHostile } from "./hostile.ts";

const PROBES = readFileSync(join(import.meta.dirname, "probes.txt"), "utf8")
  .split("\n")
  .filter((line) => line !== "" && !line.startsWith("#"));

/** What the server's environment holds and no child may see. */
const ENV = {
  ...process.env,
  LLMC_MCP_TOKEN: "CANARY-ENV",
  GIT_EXTERNAL_DIFF: "/CANARY-ENV",
  LD_PRELOAD: "",
  NODE_OPTIONS: "",
  RIPGREP_CONFIG_PATH: "/CANARY-ENV",
};

const LEVELS = [
  ["in bubblewrap", {}],
  ["without a sandbox", { bwrap: null }],
] as const;

describe.each(LEVELS)("hostile commands %s", (_name, deps) => {
  let test: TestExec;
  let hostile: Hostile;
  beforeAll(() => {
    test = testExec({}, { ...deps, env: ENV });
    hostile = makeHostile(test.root, test.outside);
  });
  afterAll(() => test[Symbol.asyncDispose]());

  it.each(PROBES)("%s", async (line) => {
    const places = { payload: hostile.payload, canary: hostile.canary, outside: test.outside, root: test.root };
    const command = filled(line, places);
    let said = "";
    try {
      const { stdout, stderr } = await test.run(command, { timeout_s: 20, max_bytes: 100_000 });
      said = stdout + stderr;
    } catch (error) {
      expect(error).toBeInstanceOf(Fault);
      said = (error as Fault).message;
    }
    expect(hostile.marks()).toEqual([]);
    expect(said).not.toMatch(/CANARY-|PAYLOAD-RAN/);
  });
});

describe.each(["javascript", "python"] as const)("hostile commands from code in %s", (from) => {
  it("pass the same gate: no marker, no canary", async () => {
    const outside = mkdtempSync(join(tmpdir(), "llmc-probes-"));
    await using bed = createBed({ from, files: { ".llmc/.gitignore": "*\n" } });
    try {
      const hostile = makeHostile(bed.root, outside);
      const places = { payload: hostile.payload, canary: hostile.canary, outside, root: bed.root };
      for (const line of PROBES) {
        const command = filled(line, places);
        const reply = await bed.call("run_cmd", { command, timeout_s: 20 });
        const said = JSON.stringify(reply.ok ? reply.payload : [reply.fault.message, reply.fault.hint]);
        expect(hostile.marks(), line).toEqual([]);
        expect(said.replaceAll(command, ""), line).not.toMatch(/CANARY-|PAYLOAD-RAN/);
      }
    } finally {
      rmSync(outside, { recursive: true });
    }
  }, 180_000);
});

function filled(line: string, places: Readonly<Record<string, string>>): string {
  return Object.entries(places).reduce((text, [name, path]) => text.replaceAll(`{${name}}`, path), line);
}

describe.each(LEVELS)("plain git in a hostile repository %s", (_name, deps) => {
  it("still tells the truth", async () => {
    await using test = testExec({}, { ...deps, env: ENV });
    makeHostile(test.root, test.outside);
    expect(await test.run("git status --short")).toMatchObject({
      exit_code: 0,
      stdout: expect.stringContaining(" M a.txt\n"),
    });
    const diff = await test.run("git diff");
    expect(diff.exit_code).toBe(0);
    for (const name of ["a.txt", "a.filtered", "a.bin", "a.odd"])
      expect(diff.stdout).toContain(`diff --git a/${name} b/${name}`);
    expect(await test.run("git log -p -1 HEAD~1 -- a.bin")).toMatchObject({
      exit_code: 0,
      stdout: expect.stringContaining("+hello"),
    });
    expect(await test.run("git blame a.filtered")).toMatchObject({
      exit_code: 0,
      stdout: expect.stringContaining("changed"),
    });
    expect(await test.run("git log --oneline")).toMatchObject({ exit_code: 0, stdout: expect.stringContaining("two") });
    expect(await test.run("git grep -n hello")).toMatchObject({
      exit_code: 0,
      stdout: expect.stringContaining("a.txt:1:hello"),
    });
  });
});

describe("the hostile repository", () => {
  it("does bite where nobody guards: plain git runs its programs", async () => {
    await using test = testExec();
    const hostile = makeHostile(test.root, test.outside);
    try {
      execFileSync("git", ["status"], { cwd: test.root, stdio: "ignore", timeout: 60_000 });
    } catch {
      // What it answers does not matter.
    }
    expect(hostile.marks().length).toBeGreaterThan(0);
  });
});
