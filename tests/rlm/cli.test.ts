import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runBinary } from "../harness/cli.ts";
import { type Temp, temp } from "../harness/temp.ts";
import { inTerminal } from "../harness/terminal.ts";
import { LONG, type RlmPayload, rlmConfig } from "./bed.ts";
import { type ModelServer, startModelServer } from "./model-server.ts";
import { programmaticModel } from "./programmatic-model.ts";

const task = "What is the code word of Falcon?";
let server: ModelServer;
let folder: Temp;

beforeAll(async () => {
  server = await startModelServer({ model: programmaticModel });
  folder = temp();
  writeFileSync(join(folder.path, "llmc.toml"), rlmConfig(server.url, { rlm: 'replay_dir = "runs"' }));
  writeFileSync(join(folder.path, "long.txt"), `${LONG}The code word of Falcon is ZEBRA-17.\n`);
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

const llmc = (...args: string[]) => runBinary(["rlm", ...args], { cwd: folder.path });

/** The recording of the run on a file. */
function recordedFile(): string {
  const runs = join(folder.path, "runs");
  return readdirSync(runs).find((name) => readFileSync(join(runs, name), "utf8").includes('"path":"long.txt"'))!;
}

describe("llmc rlm query", () => {
  it("answers on one side and tells turns, calls and cost on the other, in 80 columns", async () => {
    const { code, stdout, stderr } = await llmc("query", task, "--file", "long.txt", "--budget", "0.5", "--trace");
    expect([code, stdout]).toEqual([0, "ZEBRA-17\n"]);
    expect(stderr).toMatch(
      /^ollama_chat\/tester reads long\.txt\n {2}turn 1\/5 +1 call .*\n {2}turn 2\/5 +2 calls +\d+ tokens +\$0\.0000/,
    );
    expect(stderr).toMatch(/root_call +\d+ chars [0-9a-f]{8} {2}->/);
    expect(stderr).toMatch(/Answered: 2 turns, 2 calls, .* of \$0\.50\nrun rlm_/);
    for (const line of stderr.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
  });

  it("prints the payload as JSON", async () => {
    const { stdout } = await llmc("query", task, "--context", "The code word of Falcon is X.", "--json");
    const payload = JSON.parse(stdout) as RlmPayload;
    expect(payload).toMatchObject({ data: { answer: "X" }, meta: { stop_reason: "small_input" } });
  });

  it("reads a file that is longer than a client's call may have by default", async () => {
    writeFileSync(join(folder.path, "longer.txt"), `${LONG.repeat(15)}The code word of Falcon is YAK-2.\n`);
    expect((await llmc("query", task, "--file", "longer.txt")).stdout).toBe("YAK-2\n");
    const { code, stderr } = await llmc("query", task, "--file", "longer.txt", "--max-bytes", "1000");
    expect([code, stderr]).toEqual([2, expect.stringContaining("1000 are allowed")]);
  });

  it("shows on a terminal that time goes on while a model thinks, and ends with Ctrl-C", async () => {
    await using silent = await startModelServer({ model: programmaticModel, troubles: ["hang"] });
    using other = temp();
    writeFileSync(join(other.path, "llmc.toml"), rlmConfig(silent.url));
    await using session = inTerminal(["rlm", "query", task, "--context", "short"], { cwd: other.path });
    await session.shows("2.");
    session.press("\u0003");
    expect(await session.ended).toBe(2);
    expect(session.text()).toContain("Cancelled.");
    expect(silent.aborted()).toBe(1);
  });

  it("says what is wrong", async () => {
    expect((await llmc("query", "  ")).stderr).toContain("Ask what?");
    expect((await llmc("query", task)).stderr).toMatch(/path.*context/);
    expect((await llmc("query", task, "--file", "long.txt", "--budget", "much")).stderr).toContain(
      "--budget takes a number",
    );
    expect((await llmc("query", task, "--file", "long.txt", "--model", "openai/gpt-4o")).stderr).toContain(
      "allowed_model_prefixes",
    );
    expect((await llmc("query", task, "--file", "/etc/hostname")).stderr).toContain("Absolute paths");
  });
});

describe("llmc rlm replay", () => {
  it("gives the same answer with no model there, from the file that was read", async () => {
    const run = recordedFile();
    const before = server.seen.length;
    const { code, stdout } = await llmc("replay", run.replace(".jsonl", ""));
    expect([code, stdout]).toEqual([0, "ZEBRA-17\n"]);
    expect((await llmc("replay", join("runs", run), "--file", "long.txt", "--json")).stdout).toContain(
      '"answer":"ZEBRA-17"',
    );
    expect(server.seen.length).toBe(before);
  });

  it("says what is wrong", async () => {
    expect((await llmc("replay")).stderr).toContain("Which recording?");
    expect((await llmc("replay", "absent")).stderr).toContain("no recording");
    const run = recordedFile();
    expect((await llmc("replay", join("runs", run), "--context", "other")).stderr).toContain(
      "not the one that was recorded",
    );
  });
});
