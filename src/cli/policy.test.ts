import { describe, expect, it } from "vitest";
import { testExec } from "../engines/exec/test-exec.ts";
import { explainPolicy } from "./policy.ts";

describe("llmc policy explain", () => {
  it("says why a command is allowed and how it would run", async () => {
    await using test = testExec();
    const text = await explainPolicy(test.exec, "git log -p");
    expect(text).toMatch(/^allowed {2}git log -p\nrule {7}git log flags\nclass {6}reader\nisolation {2}bwrap/);
    expect(text).toContain("--no-ext-diff");
    expect(text).toContain("[mcp.tools.policy.git]");
  });

  it("says why a command is denied and what would change it", async () => {
    await using test = testExec({}, { bwrap: null });
    expect(await explainPolicy(test.exec, "rg --pre=x y")).toMatch(/^denied .*\nrule {7}rg flags\nbecause .*--pre.*\n/);
    const text = await explainPolicy(test.exec, "npm test");
    expect(text).toMatch(/^denied .*\nrule {7}isolation\n/);
    expect(text).toContain("bubblewrap");
  });

  it("sees through te, which answers about itself without a program", async () => {
    await using test = testExec();
    expect(await explainPolicy(test.exec, "te git log -p")).toMatch(/^allowed .*\nrule {7}git log flags\n/);
    expect(await explainPolicy(test.exec, "te rg --pre=x y")).toMatch(/^denied .*\nrule {7}rg flags\n/);
    expect(await explainPolicy(test.exec, "te --stats")).toMatch(/^allowed .*\nrule {7}te\n/);
  });
});
