import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runBinary } from "../../tests/harness/cli.ts";
import { temp } from "../../tests/harness/temp.ts";

function repository() {
  const folder = temp();
  mkdirSync(join(folder.path, "src"));
  writeFileSync(join(folder.path, "src/pear.ts"), "export function ripen() {\n  return '\u001b[31mpear';\n}\n");
  writeFileSync(join(folder.path, "README.md"), "# Fruit\n\nHow to ripen.\n");
  return folder;
}

const llmc = (root: string, ...args: string[]) => runBinary([...args, "--root", root], { cwd: root });

describe("llmc index", () => {
  it("estimates without writing, indexes, and finds nothing left to do", async () => {
    using folder = repository();
    const dry = await llmc(folder.path, "index", "--dry-run", "--json");
    expect(JSON.parse(dry.stdout)).toMatchObject({ files: 2, changed: 2 });
    const built = await llmc(folder.path, "index", "--json");
    expect(JSON.parse(built.stdout)).toMatchObject({ phase: "ready", files: 2, coverage: 1 });
    expect(JSON.parse((await llmc(folder.path, "index", "--dry-run", "--json")).stdout)).toMatchObject({ changed: 0 });
    expect((await llmc(folder.path, "index")).stdout).toMatch(/^2 files, \d+ chunks/);
  });
});

describe("llmc search", () => {
  it("prints places and numbered lines, and nothing that steers a terminal", async () => {
    using folder = repository();
    const { stdout, code } = await llmc(folder.path, "search", "ripen pear");
    expect(code).toBe(0);
    expect(stdout).toContain("src/pear.ts#L1-L3  ripen");
    expect(stdout).toContain("    2    return '[31mpear';");
    expect(stdout).not.toContain("\u001b");
  });

  it("prints JSON, keeps to a scope, and ends with 1 when there is nothing", async () => {
    using folder = repository();
    const { stdout } = await llmc(
      folder.path,
      "search",
      "ripen",
      "--json",
      "--scope",
      "docs",
      "--k",
      "1",
      "--budget-tokens",
      "200",
    );
    expect(JSON.parse(stdout)).toMatchObject({ snippets: [{ src: "README.md#L1-L3" }] });
    expect((await llmc(folder.path, "search", "zebra")).code).toBe(1);
    expect((await llmc(folder.path, "search", "x", "--k", "many")).stderr).toContain("--k takes a whole number");
  });
});
