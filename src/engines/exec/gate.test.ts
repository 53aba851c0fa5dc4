import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { execOptions, execWarnings } from "./options.ts";
import { testExec } from "./test-exec.ts";

describe("the gate", () => {
  it("lets through what is listed, under its rule, as an absolute program", async () => {
    await using test = testExec();
    expect(await test.exec.allow({ command: "ls -la" })).toMatchObject({
      name: "ls",
      class: "reader",
      level: "process",
      rule: "ls flags",
      cwd: test.root,
    });
    expect((await test.exec.allow({ command: "ls" })).file).toMatch(/^\/.*\/ls$/);
    expect(await test.exec.allow({ command: "/usr/bin/wc -l a" })).toMatchObject({ name: "wc" });
    expect(await test.exec.allow({ command: "node x.js" })).toMatchObject({ class: "project_code", level: "bwrap" });
  });

  it.each([
    "wget example.org",
    "bash -c id",
    "sh x",
    "./evil",
    "/tmp/ls",
    "rm -rf x",
    "awk 1",
    "env ls",
    "xargs ls",
    "../ls",
    "tar xf a",
  ])("refuses %s", async (command) => {
    await using test = testExec();
    await expect(test.exec.allow({ command })).rejects.toMatchObject({
      code: "command_denied",
      hint: expect.any(String),
    });
  });

  it("takes either a command or argv", async () => {
    await using test = testExec();
    await expect(test.exec.allow({})).rejects.toMatchObject({ code: "invalid_args" });
    await expect(test.exec.allow({ command: "ls", argv: ["ls"] })).rejects.toMatchObject({ code: "invalid_args" });
    await expect(test.exec.allow({ argv: ["ls", "a\0b"] })).rejects.toMatchObject({ code: "invalid_args" });
    await expect(test.exec.allow({ argv: Array(5000).fill("x") })).rejects.toMatchObject({ code: "invalid_args" });
  });

  it("sends every path of a reader through the roots", async () => {
    await using test = testExec();
    writeFileSync(join(test.outside, "secret"), "x");
    symlinkSync(join(test.outside, "secret"), join(test.root, "link"));
    symlinkSync(test.outside, join(test.root, "folder"));
    execFileSync("mkfifo", [join(test.root, "fifo")]);
    for (const command of [
      "cat ../outside/secret",
      "cat /etc/passwd",
      "cat link",
      "ls folder",
      "head folder/secret",
      "cat fifo",
      "find / -name x",
      "find . -newer /etc/passwd",
      "rg x /etc",
      "grep x /etc/passwd",
      "date -r /etc/passwd",
      "wc -l a link",
      "git diff /etc/passwd link",
      "git -C /etc status",
      "git log -- ../../x",
      "realpath --relative-to=/etc a",
    ])
      await expect(test.exec.allow({ command }), command).rejects.toMatchObject({ code: "path_denied" });
  });

  it("says what is off and what is not installed", async () => {
    await using off = testExec({ enable_run_cmd: false });
    await expect(off.exec.allow({ command: "ls" })).rejects.toMatchObject({ code: "tool_disabled" });
    await using test = testExec({ run_cmd_allowlist: ["no-such-program"] });
    await expect(test.exec.allow({ command: "no-such-program" })).rejects.toMatchObject({
      message: expect.stringContaining("not installed"),
    });
  });

  it("runs shells and unknown programs only when listed, and then in the sandbox", async () => {
    await using test = testExec({ run_cmd_allowlist: ["bash", "tar"] });
    expect(await test.exec.allow({ command: "bash -c 'echo hi; id'" })).toMatchObject({
      class: "shell",
      level: "bwrap",
    });
    expect(await test.exec.allow({ command: "tar --version" })).toMatchObject({
      class: "project_code",
      level: "bwrap",
    });
    expect((await test.run(["bash", "-c", "echo hi; echo ho"])).stdout).toBe("hi\nho\n");
  });

  it("never runs what runs other programs, even when listed, unless the operator gives it a class", async () => {
    await using test = testExec({ run_cmd_allowlist: ["env", "xargs"], policy: { xargs: { class: "project_code" } } });
    await expect(test.exec.allow({ command: "env ls" })).rejects.toMatchObject({
      code: "command_denied",
      rule: "never",
    });
    expect(await test.exec.allow({ command: "xargs ls" })).toMatchObject({ level: "bwrap" });
  });

  it("lets an operator narrow project code", async () => {
    await using test = testExec({
      policy: { npm: { subcommands: ["test", "run"] }, node: { deny_flags: ["--inspect", "-e"] } },
    });
    expect(await test.exec.allow({ command: "npm test" })).toMatchObject({ name: "npm" });
    for (const command of ["npm install x", "npm", "node --inspect=0 x", "node -e 1", "node -pe 1"])
      await expect(test.exec.allow({ command }), command).rejects.toMatchObject({ code: "command_denied" });
    expect(await test.exec.allow({ command: "node x.js -- -e" })).toMatchObject({ name: "node" });
  });

  it("takes a program of the project by its path when the operator lists it", async () => {
    await using test = testExec({ run_cmd_allowlist: ["./tool.sh"] });
    writeFileSync(join(test.root, "tool.sh"), "#!/bin/sh\necho tool $1\n", { mode: 0o755 });
    expect(await test.run("./tool.sh x")).toMatchObject({ stdout: "tool x\n", isolation: "bwrap" });
  });

  it("offers the operator's executables", async () => {
    await using test = testExec({
      executables: {
        hello: { command: ["echo", "hello"], class: "reader" },
        bad: { command: ["./inside.sh"], class: "reader" },
      },
    });
    writeFileSync(join(test.root, "inside.sh"), "#!/bin/sh\n", { mode: 0o755 });
    expect(await test.exec.allowExecutable("hello", ["you"])).toMatchObject({
      args: ["hello", "you"],
      level: "process",
    });
    await expect(test.exec.allowExecutable("bad", [])).rejects.toMatchObject({ code: "command_denied" });
    await expect(test.exec.allowExecutable("toString", [])).rejects.toMatchObject({ code: "unknown_tool" });
  });

  it("holds timeouts within what is configured", async () => {
    await using test = testExec({ exec_timeout: 5, exec_timeout_max: 10 });
    expect(test.exec.timeout()).toBe(5);
    expect(test.exec.timeout(9)).toBe(9);
    expect(() => test.exec.timeout(11)).toThrow(/at most 10/);
  });

  it("takes no program from a PATH that the project or anybody could have filled", async () => {
    await using test = testExec();
    mkdirSync(join(test.root, "bin"));
    for (const dir of [join(test.root, "bin"), test.outside])
      for (const name of ["ls", "node", "make"])
        writeFileSync(join(dir, name), "#!/bin/sh\necho EVIL\n", { mode: 0o755 });
    await using evil = testExec(
      {},
      { path: `${join(test.root, "bin")}:${test.outside}:relative::${process.env.PATH}` },
    );
    for (const name of ["ls", "node", "make"])
      expect((await evil.exec.allow({ argv: [name] })).file).not.toContain("llmc-exec");
    expect((await evil.run("ls")).stdout).not.toContain("EVIL");
  });

  it("explains itself", async () => {
    await using test = testExec();
    expect(await test.exec.explain("git log -p")).toMatchObject({
      allowed: true,
      rule: "git log flags",
      class: "reader",
      level: "bwrap",
    });
    expect(await test.exec.explain("rg --pre x y")).toMatchObject({
      allowed: false,
      rule: "rg flags",
      reason: expect.stringContaining("--pre"),
      change: expect.any(String),
    });
    expect(await test.exec.explain("ls | wc")).toMatchObject({ allowed: false, rule: "no shell" });
    expect(existsSync(join(test.root, ".git"))).toBe(false);
  });

  it("warns about shells, about what never runs, and about trust", () => {
    expect(execWarnings(execOptions.parse({}))).toEqual([]);
    const warnings = execWarnings(
      execOptions.parse({ run_cmd_allowlist: ["/bin/bash", "env"], run_cmd_trust: "host" }),
    );
    expect(warnings).toHaveLength(3);
    expect(warnings[0]).toContain("bash");
  });
});
