import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { temp } from "../harness/temp.ts";

/** A bad import of each kind, and the rule that must refuse it. */
const VIOLATIONS: readonly (readonly [rule: string, file: string, code: string])[] = [
  ["base-looks-down", "src/base/bad.ts", 'import "../core/session.ts";'],
  ["engines-look-down", "src/engines/fs/bad.ts", 'import "../../core/session.ts";'],
  ["core-looks-down", "src/core/bad.ts", 'import "../tools/aliases.ts";'],
  ["tools-look-down", "src/tools/bad.ts", 'import "../transports/line-transport.ts";'],
  ["transports-look-down", "src/transports/bad.ts", 'import "../config/root.ts";'],
  ["engines-are-strangers", "src/engines/search/bad.ts", 'import "../fs/index.ts";'],
  ["engines-have-one-door", "src/core/bad.ts", 'import "../engines/fs/lines.ts";'],
  ["tools-are-strangers", "src/tools/bad_tool.ts", 'import "./stat.ts";'],
  ["protocol-only-in-transports", "src/core/bad.ts", 'import "@modelcontextprotocol/server";'],
  ["only-main-exits", "src/cli/bad.ts", 'import "../process.ts";'],
  ["no-cycles", "src/base/bad.ts", 'import "./worse.ts";\nexport const x = 1;'],
  ["no-tests-in-code", "src/core/bad.ts", 'import "../../tests/harness/temp.ts";'],
  ["no-unresolved", "src/core/bad.ts", 'import "./nothing.ts";'],
];

function cruise(cwd: string): { status: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [
      "node_modules/dependency-cruiser/bin/dependency-cruise.mjs",
      "--config",
      ".dependency-cruiser.cjs",
      "--output-type",
      "err",
      "src",
    ],
    { cwd, encoding: "utf8" },
  );
  return { status, output: stdout + stderr };
}

describe("the rule of directions", () => {
  it("holds here, and looks at every module there is", () => {
    const { status, output } = cruise(".");
    expect(output).toContain("no dependency violations found");
    expect(Number(/\((\d+) modules/.exec(output)?.[1])).toBeGreaterThan(50);
    expect(status).toBe(0);
  });

  it("refuses a planted violation of each kind", () => {
    using copy = temp();
    for (const path of ["src", "tests", "tsconfig.json", "package.json", ".dependency-cruiser.cjs"])
      cpSync(path, join(copy.path, path), { recursive: true });
    symlinkSync(join(process.cwd(), "node_modules"), join(copy.path, "node_modules"));
    writeFileSync(join(copy.path, "src/base/worse.ts"), 'import { x } from "./bad.ts";\nexport const y = x;\n');
    const planted = new Map<string, string>();
    for (const [, file, code] of VIOLATIONS) planted.set(file, `${planted.get(file) ?? ""}${code}\n`);
    for (const [file, code] of planted) {
      mkdirSync(dirname(join(copy.path, file)), { recursive: true });
      writeFileSync(join(copy.path, file), code);
    }
    const { status, output } = cruise(copy.path);
    expect(status).not.toBe(0);
    for (const [rule, file] of VIOLATIONS)
      expect(output, rule).toMatch(
        new RegExp(`error ${rule}: [^\\n]*${file.replaceAll(".", "\\.")}|error ${rule}: ${file}`),
      );
  });
});

describe("adding a tool", () => {
  it("touches one file, one line of the list, and the generated files", () => {
    using copy = temp();
    const read_by_gen = ["bench/results", "docs", "man", "README.md", "llmc.example.toml"];
    for (const path of ["src", "scripts", "package.json", "tsconfig.json", ...read_by_gen])
      cpSync(path, join(copy.path, path), { recursive: true });
    symlinkSync(join(process.cwd(), "node_modules"), join(copy.path, "node_modules"));
    const git = (...args: string[]) =>
      execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@example.org", ...args], {
        cwd: copy.path,
        encoding: "utf8",
      });
    git("init", "-q");
    writeFileSync(join(copy.path, ".gitignore"), "node_modules\n");
    git("add", "-A");
    git("commit", "-qm", "before");
    writeFileSync(
      join(copy.path, "src/tools/say_hello.ts"),
      `import * as z from "zod";
import { defineTool } from "../core/tool.ts";

export const say_hello = defineTool({
  name: "say_hello",
  title: "Say hello",
  description: "Greet someone.",
  effects: ["read"],
  input: z.object({ name: z.string() }),
  output: () => z.object({ text: z.string() }),
  async run({ name }) {
    return { text: \`Hello, \${name}\` };
  },
});
`,
    );
    const list = join(copy.path, "src/tools/index.ts");
    const text = readFileSync(list, "utf8");
    writeFileSync(
      list,
      text
        .replace("  llmc_init,\n]", "  say_hello,\n  llmc_init,\n]")
        .replace("import { stat }", 'import { say_hello } from "./say_hello.ts";\nimport { stat }'),
    );
    execFileSync(process.execPath, ["scripts/gen.ts"], { cwd: copy.path });
    execFileSync(process.execPath, ["scripts/gen.ts", "--check"], { cwd: copy.path });
    const changed = git("status", "--porcelain", "-uall")
      .trimEnd()
      .split("\n")
      .map((line) => line.slice(3))
      .sort();
    expect(changed).toEqual([
      "README.md",
      "docs/tools.md",
      "src/tools/__snaps__/say_hello.json",
      "src/tools/index.ts",
      "src/tools/say_hello.ts",
    ]);
    const asked = `import { createApp } from "./src/app.ts"; import { loadConfig } from "./src/config/load.ts"; import { mintPrincipal } from "./src/base/principal.ts";
      const app = createApp(loadConfig({ cwd: ".", root: ".", env: { LLMC_MCP_OBSERVABILITY_ENABLED: "false" } }));
      const reply = await app.dispatch({ name: "say_hello", args: { name: "you" }, principal: mintPrincipal("local", 0), via: "cli", signal: new AbortController().signal, edge: "data" });
      console.log(reply.text); await app.close();`;
    expect(
      execFileSync(process.execPath, ["--input-type=module", "-e", asked], { cwd: copy.path, encoding: "utf8" }),
    ).toContain("Hello, you");
  });
});
