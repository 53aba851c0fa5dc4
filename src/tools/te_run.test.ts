import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Bed, createBed } from "../../tests/harness/bed.ts";
import type { TeAnswer } from "../engines/envelope/index.ts";
import { run_cmd } from "./run_cmd.ts";
import { TE_SCRIPT, withTeScript } from "./te.ts";
import { te_run } from "./te_run.ts";
import { commandBed } from "./test-commands.ts";

/** A server whose te is a script of the operator's, inside the root. */
function scripted(body: string | undefined, more = ""): Bed {
  const bed = createBed({ config: `[mcp.te]\nscript_path = "te.sh"\n${more}` });
  if (body !== undefined) chmodSync(bed.write("te.sh", `#!/bin/sh\n${body}\n`), 0o755);
  return bed;
}

describe("te_run", () => {
  it("answers with the whole contract", async () => {
    await using bed = commandBed();
    expect(await bed.call(te_run, { command: "echo hi" })).toEqual({
      success: true,
      mode: "passthrough",
      command: "echo hi",
      stdout: "hi\n",
      stderr: "",
      exit_code: 0,
      enrichment: { match_count: null, truncated: false, handle: null, tokens_estimate: expect.any(Number) },
      telemetry: { latency_ms: expect.any(Number), agent_id: "agent", budget_remaining: 200_000 - 3 },
    });
  });

  it("counts matches, keeps the rest behind a handle and spends the session's budget", async () => {
    await using bed = commandBed();
    for (let n = 0; n < 40; n++)
      writeFileSync(
        join(bed.test.root, `f${n}.ts`),
        `export function pear${n}() {}\n${"const pear = 1;\n".repeat(10)}`,
      );
    const answer = await bed.call<TeAnswer>(te_run, { command: "grep -rn pear ." });
    expect(answer).toMatchObject({ mode: "enriched", enrichment: { match_count: 440, truncated: true } });
    expect(answer.stdout).toContain("440 matches in 40 files");
    expect((await bed.handle(answer.enrichment.handle!)).split("\n")).toHaveLength(441);
    const next = await bed.call<TeAnswer>(te_run, { command: "true" });
    expect(next.telemetry.budget_remaining).toBe(200_000 - answer.stdout.length);
  });

  it("obeys the same gate as run_cmd", async () => {
    await using bed = commandBed();
    for (const command of ["wget x", "find . -delete", "te sudo id", "cat ../outside"])
      await expect(bed.call(te_run, { command })).rejects.toMatchObject({
        code: expect.stringMatching(/^(command_denied|path_denied)$/),
      });
  });

  it("has a timeout of its own", async () => {
    await using bed = commandBed({}, {}, { timeout: 0.3 });
    expect(await bed.call(te_run, { command: "sleep 30" })).toMatchObject({ success: false, stderr: "[timed out]\n" });
  });

  it("runs directly when it is switched off, and in text when JSON is", async () => {
    await using off = commandBed({}, {}, { enabled: false });
    expect(await off.call(te_run, { command: "seq 1 5000" })).toMatchObject({ mode: "raw" });
    await using text = commandBed({}, {}, { json_mode: false });
    const answer = await text.call<TeAnswer>(te_run, { command: "seq 1 5000" });
    expect(answer.stdout).toMatch(/\[exit 0; all of it: te --handle res_\w+\]\n$/);
    expect(answer.enrichment).toMatchObject({ match_count: null, handle: null });
  });

  it("reads a handle for its owner", async () => {
    await using bed = commandBed();
    const { enrichment } = await bed.call<TeAnswer>(te_run, { command: "seq 1 5000" });
    expect(await bed.call(te_run, { command: `te --handle ${enrichment.handle}` })).toMatchObject({
      mode: "raw",
      stdout: expect.stringMatching(/^1\n2\n/),
    });
  });

  it("tells a run's figures", async () => {
    await using bed = commandBed();
    await bed.call(te_run, { command: "seq 1 5000" });
    await bed.call(run_cmd, { command: "true" });
    expect(await bed.call(te_run, { command: "te --stats" })).toMatchObject({
      stdout: expect.stringMatching(/^seq +1 +0 .*\n(.*\n)*total +2 /m),
    });
  });
});

describe("a te of the operator's", () => {
  const said = (extra: string) =>
    `printf '{"success":true,"mode":"enriched","command":"x","stdout":"%s ${extra}","stderr":"","exit_code":0,"enrichment":{"match_count":1,"truncated":false,"handle":null,"tokens_estimate":1},"telemetry":{"latency_ms":1,"agent_id":"%s","budget_remaining":5}}' "$*" "$TE_AGENT_ID"`;

  it("is asked for JSON, shut in, and told who it works for", async () => {
    await using bed = scripted(said("says te"));
    expect(await bed.payload("te_run", { argv: ["echo", "a"] })).toMatchObject({
      mode: "enriched",
      stdout: "--json echo a says te",
      telemetry: { agent_id: "unknown", budget_remaining: 5 },
    });
  });

  it("gets only commands that passed the gate", async () => {
    await using bed = scripted(said(""));
    await expect(bed.payload("te_run", { command: "wget x" })).rejects.toMatchObject({ code: "command_denied" });
  });

  it("may answer in text", async () => {
    await using bed = scripted('echo "plain: $*"', "json_mode = false");
    expect(await bed.payload("te_run", { command: "echo a" })).toMatchObject({
      mode: "raw",
      stdout: "plain: echo a\n",
    });
    await using odd = scripted('echo "no JSON"');
    expect(await odd.payload("te_run", { command: "echo a" })).toMatchObject({ mode: "raw", stdout: "no JSON\n" });
  });

  it("is passed by when it is missing, or is an error, as the operator says", async () => {
    await using gone = scripted(undefined);
    expect(await gone.payload("te_run", { command: "echo a" })).toMatchObject({ mode: "raw", stdout: "a\n" });
    await using strict = scripted(undefined, "passthrough_on_failure = false");
    await expect(strict.payload("te_run", { command: "echo a" })).rejects.toMatchObject({ code: "command_denied" });
  });

  it("is a program of project code, under a name no operator can take", () => {
    const options = withTeScript({ executables: {} } as never, "/x/te");
    expect(options.executables).toEqual({
      [TE_SCRIPT]: { command: ["/x/te"], description: "", class: "project_code" },
    });
    expect(TE_SCRIPT).not.toMatch(/^[A-Za-z_][A-Za-z0-9_-]*$/);
    expect(withTeScript({ executables: {} } as never, "").executables).toEqual({});
  });
});
