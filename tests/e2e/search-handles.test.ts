import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { connect } from "../harness/client.ts";
import { type Temp, temp } from "../harness/temp.ts";

let folder: Temp;
beforeEach(() => {
  folder = temp();
  mkdirSync(join(folder.path, "src"));
  for (let file = 0; file < 40; file++)
    writeFileSync(
      join(folder.path, "src", `m${String(file).padStart(2, "0")}.ts`),
      `// head\nexport const needle = ${file};\n`,
    );
});
afterEach(() => folder[Symbol.dispose]());

const CLASSIC = ["--mode", "classic"];

describe("search and handles over stdio", () => {
  it("find names and contents, and keep what does not fit a page", async () => {
    await using server = await connect(folder.path, "2025-11-25", CLASSIC);
    const names = JSON.parse((await server.call("linux_search_files", { root: ".", pattern: "M0" })).text);
    expect(names.hits).toHaveLength(10);
    expect(names).toMatchObject({ total_hits: 10, truncated: false, handle: null });

    const page = JSON.parse(
      (await server.call("linux_search_content", { root: "src", pattern: "needle", max_results: 3 })).text,
    );
    expect(page).toMatchObject({ total_hits: 40, truncated: true });
    expect(page.hits[0]).toEqual({
      path: "src/m00.ts",
      line: 2,
      start_line: 1,
      snippet: "// head\nexport const needle = 0;",
    });
    const rest = JSON.parse((await server.call("linux_handle_read", { handle: page.handle, offset_lines: 39 })).text);
    expect(rest.content).toContain("src/m39.ts");
    expect(rest.meta).toEqual({
      kind: "search_hits",
      state: "done",
      progress: null,
      total_lines: 40,
      truncated: false,
    });
  });

  it("refuse what is wrong in the contract's words", async () => {
    await using server = await connect(folder.path, "2025-11-25", CLASSIC);
    for (const [tool, args, code] of [
      ["linux_search_files", { root: "../..", pattern: "x" }, "INVALID_PATH"],
      ["linux_search_files", { root: "none", pattern: "x" }, "NOT_FOUND"],
      ["linux_search_files", { root: "src/m00.ts", pattern: "x" }, "NOT_A_DIRECTORY"],
      ["linux_search_content", { root: ".", pattern: "(" }, "INVALID_ARGUMENT"],
      ["linux_search_content", { root: ".", pattern: "x", max_results: 0 }, "INVALID_ARGUMENT"],
      ["linux_handle_read", { handle: "res_nothingnothingnothing" }, "HANDLE_EXPIRED"],
    ] as const) {
      const { text, isError } = await server.call(tool, args);
      expect(isError, tool).toBe(true);
      expect(JSON.parse(text).meta.error_code, tool).toBe(code);
    }
  });

  it("let a handle be read by another server on the same repository, and after both have ended", async () => {
    let handle: string;
    {
      await using first = await connect(folder.path, "2025-11-25", CLASSIC);
      await using second = await connect(folder.path, "2025-11-25");
      const page = JSON.parse(
        (await first.call("linux_search_content", { root: ".", pattern: "needle", max_results: 1 })).text,
      );
      handle = page.handle;
      expect((await second.call("read_file", { path: handle })).text).toContain("src/m39.ts");
    }
    await using third = await connect(folder.path, "2025-11-25");
    expect((await third.call("read_file", { path: handle })).text).toContain("src/m39.ts");
  });
});
