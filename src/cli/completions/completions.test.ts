import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runBinary } from "../../../tests/harness/cli.ts";
import { type Temp, temp } from "../../../tests/harness/temp.ts";
import { CLIENTS } from "../client/clients.ts";
import { COMMANDS } from "../commands.ts";

let folder: Temp;
beforeEach(() => {
  folder = temp();
});
afterEach(() => folder[Symbol.dispose]());

async function script(shell: string): Promise<string> {
  const file = join(folder.path, `_llmc.${shell}`);
  const { code, stdout } = await runBinary(["completions", shell]);
  expect(code).toBe(0);
  writeFileSync(file, stdout);
  return file;
}

const run = (command: string, ...args: string[]) =>
  execFileSync(command, args, {
    encoding: "utf8",
    env: { PATH: process.env["PATH"], HOME: folder.path, LC_ALL: "C.UTF-8" },
  });

const FIRST = [...new Set(COMMANDS.map(({ name }) => name.split(" ")[0]!))];

describe("completions", () => {
  it("bash offers commands, their second words, flags and clients", async () => {
    const file = await script("bash");
    const offered = (...words: string[]) =>
      run(
        "bash",
        "-c",
        `. '${file}'; COMP_WORDS=(llmc ${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length}; _llmc; printf '%s\\n' "\${COMPREPLY[@]}"`,
      )
        .trim()
        .split("\n");
    expect(offered("")).toEqual([...FIRST, "--help", "--version"]);
    expect(offered("cl")).toEqual(["client"]);
    expect(offered("client", "")).toEqual(["add", "remove", "list"]);
    expect(offered("client", "add", "c")).toEqual(CLIENTS.map(({ id }) => id).filter((id) => id.startsWith("c")));
    expect(offered("audit", "--s")).toEqual(["--since"]);
    expect(offered("serve", "--mode", "h")).toEqual(["hybrid"]);
    mkdirSync(join(folder.path, "somewhere"));
    expect(offered("serve", "--root", join(folder.path, "some"))).toEqual([join(folder.path, "somewhere")]);
  });

  it("fish offers the same, with what each does", async () => {
    const file = await script("fish");
    const offered = (line: string) =>
      run("fish", "--no-config", "-c", `source '${file}'; complete -C '${line}'`).trim().split("\n");
    expect(
      offered("llmc ")
        .map((line) => line.split("\t")[0])
        .sort(),
    ).toEqual([...FIRST].sort());
    expect(offered("llmc client add z")).toEqual(["zed"]);
    expect(offered("llmc audit --sin")).toEqual(["--since\tFrom then on: a date, or 30m, 2h, 7d ago"]);
  });

  it("zsh loads its function", async () => {
    const file = await script("zsh");
    const loaded = run(
      "zsh",
      "-f",
      "-c",
      `autoload -U compinit; compinit -u -D; . '${file}'; print $_comps[llmc]; whence -w _llmc`,
    );
    expect(loaded).toBe("_llmc\n_llmc: function\n");
    for (const first of FIRST) expect(readFileSync(file, "utf8")).toContain(`'${first}:`);
  });

  it("any other shell is one line that says what there is", async () => {
    const { code, stderr } = await runBinary(["completions", "tcsh"]);
    expect([code, stderr]).toEqual([2, "llmc: For which shell? llmc completions bash|zsh|fish\n"]);
  });
});

describe("the manual page", () => {
  it("is taken by man without a warning, and has every command and flag", async () => {
    const file = join(folder.path, "llmc.1");
    writeFileSync(file, (await runBinary(["man"])).stdout);
    const shown = execFileSync("sh", ["-c", `MANWIDTH=80 man --warnings -l '${file}' 2>&1 | col -b`], {
      encoding: "utf8",
    });
    expect(shown).not.toMatch(/warning|error:/);
    for (const { name, flags } of COMMANDS) {
      expect(shown.replace(/\s+/g, " ")).toContain(`llmc ${name}`);
      for (const flag of flags) expect(shown).toContain(`--${flag.name}`);
    }
  });
});
