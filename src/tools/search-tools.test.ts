import { describe, expect, it } from "vitest";
import { TOOLS } from "./index.ts";
import { searchTools } from "./search-tools.ts";

const names = (words: string) => searchTools(TOOLS, words).map(({ name }) => name);

describe("tools by words", () => {
  it("are found by what people say for it, best first", () => {
    expect(names("change a file")[0]).toBe("linux_fs_edit");
    expect(names("grep content")[0]).toBe("linux_search_content");
    expect(names("remove")).toContain("linux_fs_delete");
  });

  it.each(["constructor", "toString valueOf", "__proto__", "hasOwnProperty", "", "🙂"])(
    "are none, and no error, for %j",
    (words) => expect(names(words).every((name) => typeof name === "string")).toBe(true),
  );
});
