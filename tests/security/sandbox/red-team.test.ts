import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { createSandboxBed } from "../../../src/engines/sandbox/test-sandbox.ts";
import { temp } from "../../harness/temp.ts";

/**
 * Every file in attempts/ is one try to leave. It may print and return what it likes, but never ESCAPED and never a canary. A first line
 * `limit: name` says which limit must end it, or which of several (`time|memory`). Add a file, and it is tried.
 */
const ATTEMPTS = new URL("./attempts/", import.meta.url).pathname;
const CANARY = `canary-${process.pid}-${Math.trunc(performance.now() * 1000)}`;
const outside = temp();
const canary_file = join(outside.path, "secret.txt");
writeFileSync(canary_file, CANARY);
process.env["LLMC_CANARY"] = CANARY;
const bed = createSandboxBed({ memory_mb: 64, workspace_mb: 8, workspace_files: 200, max_tool_calls: 50 });

afterAll(async () => {
  delete process.env["LLMC_CANARY"];
  await bed[Symbol.asyncDispose]();
  outside[Symbol.dispose]();
});

describe("code that tries to leave", () => {
  it.each(readdirSync(ATTEMPTS).sort())("%s gets nothing, and the next run is as new", async (file) => {
    const source = readFileSync(join(ATTEMPTS, file), "utf8");
    const language = file.endsWith(".py") ? "python" : "javascript";
    const code = source.replaceAll("CANARY_FILE", JSON.stringify(canary_file));
    // The interpreter is there before the clock is read.
    await bed.once("1", language);
    const limits = /^(?:#|\/\/) limit: ([\w|]+)/.exec(source)?.[1]?.split("|");
    const timeout_s = limits?.includes("time") ? 1 : 15;
    const tried = await bed.once(code, language, {
      timeout_s,
      callTool: async () => ({}),
      tool_names: ["echo"],
    });
    const said = JSON.stringify([tried.stdout, tried.stderr, tried.result]);
    expect(said).not.toContain("ESCAPED");
    expect(said).not.toContain(CANARY);
    expect(tried.stdout.length).toBeLessThanOrEqual(65_536);
    expect(tried.memory_bytes).toBeLessThanOrEqual(72 * 1024 * 1024);
    // Half a second is what it takes at most; a machine that does other things besides may need more.
    expect(tried.duration_ms).toBeLessThan((timeout_s + 1.5) * 1000);
    if (limits) expect(limits, said.slice(0, 500)).toContain(tried.limit?.name);
    expect(readFileSync(canary_file, "utf8")).toBe(CANARY);
    expect(
      await bed.once(language === "python" ? "print('new')\n[1, 2]" : "console.log('new'); [1, 2]", language),
    ).toMatchObject({
      stdout: "new\n",
      stderr: "",
      result: [1, 2],
    });
  });
});
