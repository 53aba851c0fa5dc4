import { appendFileSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { createRoots, pinFile } from "../../base/path/index.ts";
import { textHash } from "./replay.ts";
import { openText, partOf, stringOf } from "./text.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "llmc-test-")));
afterAll(() => rmSync(folder, { recursive: true }));
const roots = createRoots({ roots: [folder], state_dir: join(folder, ".llmc") });

function fileOf(name: string, content: string) {
  writeFileSync(join(folder, name), content);
  using pinned = pinFile(roots, roots.mint(join(folder, name), "read"));
  return openText(pinned);
}

describe("a text in a file", () => {
  const content = `a\u00e4\u{1f600}\n${"line\n".repeat(1000)}`;

  it("is what the same bytes in memory are, part by part and as a whole", () => {
    using text = fileOf("same.txt", content);
    const bytes = Buffer.from(content);
    expect(text.length).toBe(bytes.length);
    for (const [at, size] of [
      [0, 3],
      [2, 700],
      [bytes.length - 2, 100],
      [bytes.length, 10],
    ] as const)
      expect(Buffer.from(partOf(text, at, size))).toEqual(Buffer.from(partOf(bytes, at, size)));
    expect(stringOf(text)).toBe(content);
    expect(textHash(text)).toBe(textHash(bytes));
  });

  it("is refused when the file changes while it is read", () => {
    using text = fileOf("moving.txt", content);
    partOf(text, 0, 10);
    appendFileSync(join(folder, "moving.txt"), "more");
    expect(() => partOf(text, 10, 10)).toThrow(expect.objectContaining({ code: "resource_busy" }));
  });
});
