import { describe, expect, it } from "vitest";
import { execOptions } from "../engines/exec/options.ts";
import { makeExecutables } from "./executables.ts";
import { commandBed } from "./test-commands.ts";

describe("the operator's executables", () => {
  const executables = {
    greet: { command: ["echo", "hello"], description: "Greets.", class: "reader" as const },
    script: { command: ["node", "-p", "process.argv.slice(1).join()"] },
  };

  it("are tools of their own, which answer as run_cmd does", async () => {
    await using bed = commandBed({ executables });
    const [greet, script] = makeExecutables(execOptions.parse({ executables }).executables);
    expect(greet).toMatchObject({ name: "greet", description: "Greets." });
    expect(await bed.call(greet!, { args: ["you; ls"] })).toMatchObject({
      data: { stdout: "hello you; ls\n" },
      meta: { isolation: "process" },
    });
    expect(await bed.call(script!, { args: ["a", "b c"] })).toMatchObject({
      data: { stdout: "a,b c\n" },
      meta: { isolation: "bwrap" },
    });
    expect(bed.rules).toEqual(["executable greet", "executable script"]);
  });

  it("obey the same gate: isolation, policy and the master switch", async () => {
    const [, script] = makeExecutables(execOptions.parse({ executables }).executables);
    await using bare = commandBed({ executables }, { bwrap: null });
    await expect(bare.call(script!, {})).rejects.toMatchObject({ code: "isolation_required" });
    await using narrow = commandBed({ executables, policy: { script: { deny_flags: ["--inspect"] } } });
    await expect(narrow.call(script!, { args: ["--inspect=1"] })).rejects.toMatchObject({ code: "command_denied" });
    await using off = commandBed({ executables, enable_run_cmd: false });
    await expect(off.call(script!, {})).rejects.toMatchObject({ code: "tool_disabled" });
  });

  it("have names that clients accept", () => {
    expect(() => execOptions.parse({ executables: { "a.b": { command: ["ls"] } } })).toThrow();
    expect(() => execOptions.parse({ executables: { a: { command: [] } } })).toThrow();
  });
});
