import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runBinary } from "../../../tests/harness/cli.ts";
import { temp } from "../../../tests/harness/temp.ts";
import { inTerminal } from "../../../tests/harness/terminal.ts";

const tokensIn = (text: string, name: string) => {
  const [, sent, naive] = new RegExp(`^${name} +([\\d,]+) +([\\d,–]+)$`, "m").exec(text)!;
  return [sent, naive].map((number) => Number(number!.replaceAll(",", "").replace("–", "0"))) as [number, number];
};

describe("llmc demo", () => {
  it("shows each promise kept by a real server, beside what a naive one would have sent", async () => {
    using folder = temp();
    const { code, stdout, stderr } = await runBinary(["demo"], {
      cwd: folder.path,
      env: { TMPDIR: folder.path, LLMC_MCP_MODE: "classic" },
    });
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toContain("src/net/retry.ts#L");
    expect(stdout).toMatch(/Closest:\s+line 7/);
    expect(stdout).toContain("40 of 40 edits are in the file.");
    expect(stdout).toContain("find -delete is not an allowed flag");
    expect(stdout).toContain("ada: 18 to do");
    expect(stdout).toContain("3 failed, 1997 passed");
    const [log] = tokensIn(stdout, "test log");
    expect(log).toBeLessThanOrEqual(200);
    const [sent, naive] = tokensIn(stdout, "all answers");
    expect(naive / sent).toBeGreaterThan(10);
    expect(Math.max(...stdout.split("\n").map((line) => line.length))).toBeLessThanOrEqual(80);
    expect(readdirSync(folder.path)).toEqual([]);
  });

  it("leaves nothing behind when it is interrupted", async () => {
    using folder = temp();
    await using session = inTerminal(["demo"], { cwd: folder.path, env: { TMPDIR: folder.path } });
    await session.shows("2  An edit");
    session.press("\u0003");
    expect(await session.ended).toBe(130);
    expect(readdirSync(join(folder.path))).toEqual([]);
  });
});
