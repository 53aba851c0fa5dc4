import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Bed, createBed } from "../harness/bed.ts";
import { writeProject } from "../harness/project.ts";
import { readRecipes } from "../harness/recipes.ts";
import { type Temp, temp } from "../harness/temp.ts";

let folder: Temp;
let bed: Bed;
beforeAll(() => {
  folder = temp();
  writeProject(folder.path);
  bed = createBed({ root: folder.path });
});
afterAll(async () => {
  await bed[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

interface Ran {
  result: unknown;
  stderr: string;
  exit_code: number;
  tool_calls: Record<string, number>;
}

const run = (language: string, code: string) =>
  bed.payload<Ran>("execute_code", { language, code, session_id: "none", timeout_s: 60 });

describe("the recipes of the document", () => {
  it("are ten", () => expect(readRecipes()).toHaveLength(10));

  it.each(readRecipes())("$title gives the same in both languages", async ({ javascript, python }) => {
    const js = await run("javascript", javascript);
    rmSync(join(folder.path, "REPORT.md"), { force: true });
    const py = await run("python", python);
    rmSync(join(folder.path, "REPORT.md"), { force: true });
    expect([js.stderr, js.exit_code, py.stderr, py.exit_code]).toEqual(["", 0, "", 0]);
    expect(js.result).toBeTruthy();
    expect(py.result).toEqual(js.result);
    expect(Object.keys(js.tool_calls).sort()).toEqual(Object.keys(py.tool_calls).sort());
  });

  it("find what is there", async () => {
    const byTitle = new Map(readRecipes().map((recipe) => [recipe.title, recipe.javascript]));
    const result = async (title: string) => (await run("javascript", byTitle.get(title)!)).result;
    expect(await result("TODOs by author")).toEqual({ Ada: 5, Grace: 2 });
    expect(await result("Failing tests by module")).toMatchObject({ mail: [expect.stringContaining("case 226")] });
    expect(await result("Config drift between environments")).toEqual({
      cache: [null, "on"],
      debug: [true, null],
      replicas: [1, 4],
    });
    expect(await result("Dependency licences")).toEqual({
      "GPL-3.0": ["package-13", "package-23", "package-3"],
      none: ["package-17"],
    });
    expect(await result("Dead exports")).toContain("orders_unused");
    expect(await result("A code review digest of a diff")).toMatchObject({
      "src/mail.ts": { look_at: expect.arrayContaining(["console.log(input);"]) },
    });
  });
});
