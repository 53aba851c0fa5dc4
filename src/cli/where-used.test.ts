import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runBinary } from "../../tests/harness/cli.ts";
import { temp } from "../../tests/harness/temp.ts";

function repository() {
  const folder = temp();
  mkdirSync(join(folder.path, "src"));
  const write = (path: string, text: string) => writeFileSync(join(folder.path, path), text);
  write("src/pear.ts", "/** Makes it sweet. */\nexport function ripen(days: number) {\n  return days;\n}\n");
  write("src/shop.ts", 'import { ripen } from "./pear.ts";\n\nexport const sell = () => ripen(2);\n');
  return folder;
}

const llmc = (root: string, ...args: string[]) => runBinary([...args, "--root", root], { cwd: root });

describe("llmc where-used", () => {
  it("lists uses under their file, goes further with a direction, and speaks JSON", async () => {
    using folder = repository();
    const { stdout, code } = await llmc(folder.path, "where-used", "ripen");
    expect({ stdout, code }).toEqual({
      stdout: "src/shop.ts\n     1  import  (top level)\n     3  call    sell\n",
      code: 0,
    });
    const down = await llmc(folder.path, "where-used", "sell", "--direction", "callees", "--json");
    expect(JSON.parse(down.stdout)).toMatchObject({
      total: 1,
      items: [{ symbol: "ripen", path: "src/pear.ts", line: 2 }],
    });
  });

  it("ends with 1 and a reason when there is nothing, and wants a direction for a depth", async () => {
    using folder = repository();
    const nothing = await llmc(folder.path, "where-used", "zebra");
    expect(nothing.code).toBe(1);
    expect(nothing.stdout).toMatch(/Nothing found\.\n\nNo definition of zebra is indexed; and the word stands nowhere/);
    expect((await llmc(folder.path, "where-used", "ripen", "--depth", "2")).stderr).toContain(
      "--depth needs --direction",
    );
  });
});

describe("llmc inspect and llmc plan", () => {
  it("show a symbol, a file, and what to read first", async () => {
    using folder = repository();
    const symbol = (await llmc(folder.path, "inspect", "ripen")).stdout;
    expect(symbol).toMatch(
      /^src\/pear.ts:2\nexport function ripen\(days: number\)\nMakes it sweet\.\n\nused by\n {2}sell {2}src\/shop.ts:3\n/,
    );
    const file = await llmc(folder.path, "inspect", "src/pear.ts", "--json");
    expect(JSON.parse(file.stdout)).toMatchObject({ path: "src/pear.ts", outline: ["function ripen L2-L4"] });
    const source = (await llmc(folder.path, "inspect", "ripen", "--source")).stdout;
    expect(source).toContain("  return days;");
    const plan = await llmc(folder.path, "plan", "ripen", "takes", "too", "long");
    expect(plan.stdout).toMatch(/^ 1 {2}src\/pear.ts#L1-L4 {2}0\.\d\d\n {4}\S/);
    const json = await llmc(folder.path, "plan", "ripen", "--json");
    expect(JSON.parse(json.stdout)).toHaveProperty("queries");
  });
});
