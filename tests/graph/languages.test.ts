import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { edgesOf, graphOf, readRepository } from "./edges.ts";

const NAMES = readdirSync(join(import.meta.dirname, "repositories")).map((name) => name.replace(/\.txt$/, ""));

describe("the graph of a repository", () => {
  it.each(NAMES)("in %s has exactly the edges that are written out", async (name) => {
    const { files, edges } = readRepository(name);
    using db = await graphOf(files);
    expect(edgesOf(db.db)).toEqual(edges);
  });

  it("is written out for every language that it knows", () => {
    expect(NAMES.toSorted()).toEqual(
      [
        "c",
        "cpp",
        "csharp",
        "go",
        "java",
        "javascript",
        "php",
        "python",
        "ruby",
        "rust",
        "tsx",
        "typescript",
      ].toSorted(),
    );
  });

  it.each(NAMES)("in %s is the same in whatever order its files came", async (name) => {
    const { files, edges } = readRepository(name);
    using db = await graphOf(Object.fromEntries(Object.entries(files).toReversed()));
    expect(edgesOf(db.db).toSorted()).toEqual(edges.toSorted());
  });
});

/** Which name is renamed in which repository, and to what. */
const RENAMES: readonly (readonly [repository: string, from: string, to: string])[] = [
  ["typescript", "clamp", "squeeze"],
  ["python", "add_tax", "with_tax"],
  ["go", "Check", "Verify"],
  ["rust", "round", "nearest"],
  ["java", "check", "verify"],
];

describe("a rename", () => {
  it.each(RENAMES)("in %s of %s to %s changes exactly the edges of that name", async (repository, from, to) => {
    const { files, edges } = readRepository(repository);
    const renamed = Object.fromEntries(
      Object.entries(files).map(([path, text]) => [path, text.replaceAll(new RegExp(`\\b${from}\\b`, "g"), to)]),
    );
    using db = await graphOf(renamed);
    const expected = edges.map((line) => line.replaceAll(new RegExp(`\\b${from}\\b`, "g"), to));
    expect(edgesOf(db.db)).toEqual(expected);
    expect(expected.filter((line, index) => line !== edges[index]).length).toBeGreaterThan(0);
  });

  it("of the definition alone takes away the edges to it and no others", async () => {
    const { files, edges } = readRepository("typescript");
    const path = "src/decorate.ts";
    using db = await graphOf({ ...files, [path]: files[path]!.replace("function logged", "function traced") });
    const gone = edges.filter((line) => line.endsWith("src/decorate.ts:1 logged"));
    expect(gone.length).toBeGreaterThan(1);
    expect(edgesOf(db.db)).toEqual(edges.filter((line) => !gone.includes(line)));
  });

  it("in one file writes rows of that file and of no other", async () => {
    const { files } = readRepository("typescript");
    using db = await graphOf(files);
    const rows = () =>
      db.db.all<{ path: string; name: string; places: string }>(
        "SELECT f.path AS path, u.name AS name, u.places AS places FROM uses u JOIN files f ON f.id = u.file",
      );
    const others = () => JSON.stringify(rows().filter(({ path }) => path !== "src/lib/math.ts"));
    const before = others();
    await db.put("src/lib/math.ts", files["src/lib/math.ts"]!.replaceAll("clamp", "squeeze"));
    expect(others()).toBe(before);
    const uses = edgesOf(db.db).filter((line) => line.includes(" clamp ") || line.includes(" limit "));
    expect(uses.filter((line) => line.includes("->"))).toEqual([
      "src/app.ts:34 call limit -> src/app.ts:31 inner.limit",
    ]);
  });
});
