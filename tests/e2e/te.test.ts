import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { encode } from "gpt-tokenizer/encoding/o200k_base";
import { describe, expect, it } from "vitest";
import { plainEnv, type Ran, runBinary } from "../harness/cli.ts";
import { connect } from "../harness/client.ts";
import { type Temp, temp } from "../harness/temp.ts";

const TE = fileURLToPath(new URL("../../bin/te", import.meta.url));
const LOG = fileURLToPath(new URL("../../src/engines/envelope/fixtures/tap.log", import.meta.url));

/** A repository, and a cache folder of its own. */
function repository(): Temp {
  const folder = temp();
  mkdirSync(join(folder.path, ".git"));
  return folder;
}

function te(root: string, args: readonly string[], env: Record<string, string> = {}): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const own = { XDG_CACHE_HOME: join(root, "cache"), ...env };
    const child = spawn(TE, args, { cwd: root, env: plainEnv(own), stdio: ["ignore", "pipe", "pipe"] });
    let [stdout, stderr] = ["", ""];
    child.stdout.on("data", (chunk: Buffer) => (stdout += chunk));
    child.stderr.on("data", (chunk: Buffer) => (stderr += chunk));
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, stdout, stderr }));
  });
}

describe("te", () => {
  it("prints what matters, and ends as the command did", async () => {
    using at = repository();
    expect(await te(at.path, ["echo", "a  b"])).toEqual({ code: 0, stdout: "a  b\n", stderr: "" });
    expect(await te(at.path, ["echo 'a  b'"])).toMatchObject({ stdout: "a  b\n" });
    expect(await te(at.path, ["false"])).toMatchObject({ code: 1 });
    expect(await te(at.path, ["ls", "missing"])).toMatchObject({ code: 2, stderr: expect.stringContaining("missing") });
    const long = await te(at.path, ["seq", "1", "5000"]);
    expect(long.stdout).toMatch(/^5000 lines[\s\S]*\[exit 0; all of it: te --handle res_\w+\]\n$/);
  });

  it("says with --json what te_run says", async () => {
    using at = repository();
    const { stdout } = await te(at.path, ["--json", "seq", "1", "5000"], { TE_AGENT_ID: "tester" });
    const answer = JSON.parse(stdout);
    expect(Object.keys(answer)).toEqual([
      "success",
      "mode",
      "command",
      "stdout",
      "stderr",
      "exit_code",
      "enrichment",
      "telemetry",
    ]);
    expect(answer).toMatchObject({ mode: "enriched", telemetry: { agent_id: "tester" } });
    expect(JSON.parse((await te(at.path, ["--json", "-i", "echo", "x"])).stdout)).toMatchObject({ mode: "raw" });
  });

  it("prints all of it with -i, and with the handle", async () => {
    using at = repository();
    const whole = Array.from({ length: 5000 }, (_, n) => `${n + 1}\n`).join("");
    expect((await te(at.path, ["-i", "seq", "1", "5000"])).stdout).toBe(whole);
    const handle = /res_\w+/.exec((await te(at.path, ["seq", "1", "5000"])).stdout)![0];
    expect((await te(at.path, ["--handle", handle])).stdout).toBe(whole);
    expect((await te(at.path, ["--handle", handle, "--chunk", "0"])).stdout).toMatch(/^1\n2\n/);
    expect((await te(at.path, ["--list-handles"])).stdout).toContain(handle);
    expect(await te(at.path, ["--handle", "res_0000000000000000"])).toMatchObject({ code: 2 });
  });

  it("obeys the gate", async () => {
    using at = repository();
    for (const args of [
      ["wget", "x"],
      ["sh", "-c", "id"],
      ["cat", "/etc/passwd"],
      ["find", ".", "-delete"],
    ]) {
      const { code, stdout, stderr } = await te(at.path, args);
      expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
      expect(stderr).toMatch(/^te: /);
    }
  });

  it("follows a change of the configuration at once", async () => {
    using at = repository();
    expect(await te(at.path, ["true"])).toMatchObject({ code: 0 });
    expect(await te(at.path, ["true"])).toMatchObject({ code: 0 });
    writeFileSync(join(at.path, "llmc.toml"), "[mcp.tools]\nrun_cmd_allowlist = ['ls']\n");
    expect(await te(at.path, ["true"])).toMatchObject({ code: 2 });
    writeFileSync(join(at.path, "llmc.toml"), "[mcp.tools]\nrun_cmd_allowlist = ['true']\n");
    expect(await te(at.path, ["true"])).toMatchObject({ code: 0 });
    expect(await te(at.path, ["true"], { LLMC_MCP_TOOLS_RUN_CMD_ALLOWLIST: "ls" })).toMatchObject({ code: 2 });
    expect(await te(at.path, ["true"], { LLMC_MCP_TOOLS_ENABLE_RUN_CMD: "false" })).toMatchObject({ code: 2 });
    expect(statSync(join(at.path, "cache/llmc/te")).mode & 0o077).toBe(0);
  });

  it("shares handles and telemetry with a server on the same repository", async () => {
    using at = repository();
    const handle = /res_\w+/.exec((await te(at.path, ["seq", "1", "5000"])).stdout)![0];
    await using server = await connect(at.path);
    expect((await server.call("run_cmd", { command: `te --handle ${handle}` })).text).toContain("\n1\n2\n3\n");
    const digest = await server.call("run_cmd", { command: "seq 1 4000" });
    const theirs = /res_\w+/.exec(digest.text)![0];
    expect((await te(at.path, ["--handle", theirs])).stdout.endsWith("\n4000\n")).toBe(true);
    expect((await te(at.path, ["--stats"])).stdout).toMatch(/^seq +2 /m);
    const stats = await runBinary(["stats", "--root", at.path, "--json"]);
    expect(JSON.parse(stats.stdout).te.total.calls).toBe(2);
    expect((await server.call("get_metrics")).text).toMatch(/"te":\{"calls":1,/);
  });
});

describe("a test run of 2,000 lines with three failures", () => {
  it("costs a model at most 250 tokens, request and answer", async () => {
    using at = repository();
    mkdirSync(join(at.path, "scripts"));
    const log = JSON.stringify(readFileSync(LOG, "utf8"));
    writeFileSync(join(at.path, "scripts/run-tests.mjs"), `process.stdout.write(${log}); process.exitCode = 1;\n`);
    await using server = await connect(at.path);
    const args = { command: "node scripts/run-tests.mjs" };
    const { text } = await server.call("run_cmd", args);
    for (const said of ["actual '19.99 EUR'", "no price for pear", "keeps the order of a basket"])
      expect(text).toContain(said);
    expect(text).toContain('"exit_code":1');
    expect(
      encode(JSON.stringify({ name: "run_cmd", arguments: args })).length + encode(text).length,
    ).toBeLessThanOrEqual(250);
  });
});
