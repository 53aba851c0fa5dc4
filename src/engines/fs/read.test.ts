import { appendFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { fc } from "../../../tests/harness/random.ts";
import { createRoots, type Roots } from "../../base/path/index.ts";
import { createFs, type Fs } from "./index.ts";
import { maaslOptions } from "./options.ts";

let root: string;
let roots: Roots;
let fs: Fs;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "llmc-fs-"));
  roots = createRoots({ roots: [root] });
  fs = createFs(maaslOptions.parse({}), { roots, state_dir: join(root, ".llmc") });
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const put = (name: string, content: string | Buffer) => writeFileSync(join(root, name), content);
const lines = (name: string, from = 0, count = 200) => fs.readLines(roots.mint(name, "read"), from, count);
const bytes = (name: string, from = 0, count = 1 << 20) => fs.readBytes(roots.mint(name, "read"), from, count);

describe("lines", () => {
  test("a short file comes whole", async () => {
    put("a.txt", "one\ntwo\nthree");
    expect(await lines("a.txt")).toMatchObject({ content: "one\ntwo\nthree", total_lines: 3, truncated: false });
  });

  test("an empty file has no lines", async () => {
    put("a.txt", "");
    expect(await lines("a.txt")).toMatchObject({ content: "", total_lines: 0, truncated: false });
  });

  test("a slice says how many lines there are", async () => {
    put("a.txt", "a\r\nb\r\nc\r\n");
    expect(await lines("a.txt", 1, 1)).toMatchObject({ content: "b\r\n", total_lines: 3, truncated: true });
  });

  test("a slice behind the end is empty", async () => {
    put("a.txt", "a\n");
    expect(await lines("a.txt", 5, 1)).toMatchObject({ content: "", total_lines: 1, truncated: false });
  });

  test("slices joined are the file", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.oneof(
            fc.string({ unit: "grapheme" }),
            fc.constantFrom("\r\n", "\n", "\n\n", "\ufeff", "x".repeat(70_000)),
          ),
          { maxLength: 40 },
        ),
        fc.integer({ min: 1, max: 5 }),
        async (parts, step) => {
          const text = parts
            .map((part) => part.replace(/[^\n]{4000}/g, "$&\n").replaceAll("\0", ""))
            .join("")
            .toWellFormed();
          put("p.txt", text);
          let joined = "";
          for (let at = 0; ; at += step) {
            const slice = await lines("p.txt", at, step);
            joined += slice.content;
            expect(slice.total_lines).toBe(text === "" ? 0 : text.split("\n").length - (text.endsWith("\n") ? 1 : 0));
            if (!slice.truncated) break;
          }
          expect(joined).toBe(text);
        },
      ),
      { numRuns: 60 },
    );
  });

  test("a far slice is found with and without the index, and after the file has grown", async () => {
    const text = Array.from({ length: 60_000 }, (_, i) => `line ${i} ${"x".repeat(i % 90)}\n`).join("");
    put("big.txt", text);
    const expected = text.split("\n").slice(31_000, 31_003).join("\n");
    for (let turn = 0; turn < 2; turn++)
      expect(await lines("big.txt", 31_000, 3)).toMatchObject({ content: `${expected}\n`, total_lines: 60_000 });
    appendFileSync(join(root, "big.txt"), "more\n");
    expect(await lines("big.txt", 60_000, 3)).toMatchObject({
      content: "more\n",
      total_lines: 60_001,
      truncated: false,
    });
  });

  test("a rewrite of the same size in the same tick is not read through an old index", async () => {
    for (let turn = 0; turn < 20; turn++) {
      put("same.txt", `${"a".repeat(turn)}\n${"b".repeat(400_000)}\n`);
      await lines("same.txt", 1, 1);
      put("same.txt", `${"b".repeat(400_000)}\n${"a".repeat(turn)}\n`);
      expect((await lines("same.txt", 1, 1)).content).toBe(`${"a".repeat(turn)}\n`);
    }
  });

  test("bytes that are not UTF-8 are shown replaced, and it is said", async () => {
    put("bad.txt", Buffer.from([0x61, 0xff, 0x0a]));
    expect(await lines("bad.txt")).toMatchObject({ content: "a\ufffd\n", replaced: true });
  });

  test("a long line is cut at a character and says where the rest is", async () => {
    put("long.txt", `x${"é".repeat(30_000)}\nshort\n`);
    const slice = await lines("long.txt");
    expect(slice).toMatchObject({ cut_lines: 1, lines: 2, total_lines: 2, replaced: false });
    const [head, , short] = slice.content.split(/\[\.\.\. |\n/);
    const offset = Number(/offset_bytes=(\d+)/.exec(slice.content)?.[1]);
    expect(offset).toBe(Buffer.byteLength(head!));
    expect((await bytes("long.txt", offset, 6)).text).toBe("ééé");
    expect(short).toBe("short");
  });

  test("a binary file says what it is", async () => {
    put("a.png", Buffer.from("89504e470d0a1a0a0000000d", "hex"));
    expect((await lines("a.png")).binary).toEqual({ type: "image/png" });
  });

  test("the first lines of a sparse file of 3 GB come at once and the rest stays uncounted", async () => {
    put("huge.txt", "one\ntwo\nthree\n".padEnd(20_000, "y"));
    truncateSync(join(root, "huge.txt"), 3 * 1024 ** 3);
    const before = process.memoryUsage.rss();
    expect(await lines("huge.txt", 0, 2)).toMatchObject({
      content: "one\ntwo\n",
      total_lines: 3,
      total_lines_is_lower_bound: true,
      truncated: true,
    });
    expect(await lines("huge.txt", 0, 2000)).toMatchObject({ lines: 4, cut_lines: 1, truncated: true });
    expect(await bytes("huge.txt", 2 * 1024 ** 3, 10)).toMatchObject({ length: 10, total_bytes: 3 * 1024 ** 3 });
    expect(process.memoryUsage.rss() - before).toBeLessThan(30 * 1024 ** 2);
  });

  test("an aborted read stops", async () => {
    put("a.txt", "x\n".repeat(2_000_000));
    await expect(fs.readLines(roots.mint("a.txt", "read"), 1_900_000, 1, AbortSignal.abort())).rejects.toThrow(
      /abort/i,
    );
  });
});

describe("bytes", () => {
  test("slices never split a character and joined are the file", async () => {
    const text = "aé€😀z".repeat(50);
    put("u.txt", text);
    let joined = "";
    for (let at = 0, more = true; more; ) {
      const slice = await bytes("u.txt", at, 5);
      expect(slice.replaced).toBe(false);
      joined += slice.text;
      at += slice.length;
      more = slice.truncated;
    }
    expect(joined).toBe(text);
  });

  test("a slice behind the end is empty", async () => {
    put("a.txt", "abc");
    expect(await bytes("a.txt", 10)).toMatchObject({ text: "", length: 0, total_bytes: 3, truncated: false });
  });
});

describe("folders and facts", () => {
  test("names are sorted, folders end in a slash, hidden ones only when asked for", () => {
    put("b", "");
    put(".h", "");
    mkdirSync(join(root, "a"));
    symlinkSync("/etc", join(root, "out"));
    const dir = roots.mint(".", "read");
    expect(fs.listDir(dir, 10, false)).toEqual({ names: ["a/", "b", "out"], truncated: false, path: "." });
    expect(fs.listDir(dir, 2, true)).toEqual({ names: [".h", "a/"], truncated: true, path: "." });
    expect(() => fs.listDir(roots.mint("b", "read"), 2, true)).toThrow(
      expect.objectContaining({ code: "not_a_directory" }),
    );
  });

  test("facts of a file and of a link that stays inside", () => {
    put("b", "abc");
    symlinkSync("b", join(root, "l"));
    expect(fs.stat(roots.mint("b", "read"))).toMatchObject({ path: "b", type: "file", size: 3, mode: "0644" });
    expect(fs.stat(roots.mint("l", "read"))).toMatchObject({ path: "b", type: "file", link: "b" });
    expect(fs.stat(roots.mint(".", "read"))).toMatchObject({ path: ".", type: "directory" });
  });
});
