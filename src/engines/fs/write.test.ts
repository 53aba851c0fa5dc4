import { hash } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { CALL, openTestRoot, type TestRoot } from "./test-root.ts";

let at: TestRoot;
beforeEach(() => {
  at = openTestRoot();
});
afterEach(() => at[Symbol.dispose]());

const write = (name: string, content: string, expected_sha256?: string) =>
  at.fs.write(at.write(name), content, { mode: "rewrite", expected_sha256 }, CALL);
const append = (name: string, content: string, expected_sha256?: string) =>
  at.fs.write(at.write(name), content, { mode: "append", expected_sha256 }, CALL);
const sha = (text: string | Buffer) => hash("sha256", text);

describe("rewrite", () => {
  test("makes a file and says its bytes and hash", async () => {
    expect(await write("a.ts", "é\n")).toEqual({ bytes_written: 3, new_sha256: sha("é\n") });
    expect(at.get("a.ts")).toBe("é\n");
    expect(at.temps()).toEqual([]);
    expect(await at.fs.locks()).toEqual([]);
  });

  test("keeps mode, and an empty content empties the file", async () => {
    at.put("run.sh", "x");
    chmodSync(join(at.root, "run.sh"), 0o755);
    await write("run.sh", "");
    expect(at.get("run.sh")).toBe("");
    expect(statSync(join(at.root, "run.sh")).mode & 0o777).toBe(0o755);
    at.put("secret", "x");
    chmodSync(join(at.root, "secret"), 0o600);
    await write("secret", "y");
    expect(statSync(join(at.root, "secret")).mode & 0o777).toBe(0o600);
  });

  test("keeps CRLF and the byte order mark of the file that was there, and says so", async () => {
    at.put("dos.txt", "\ufeffa\r\nb\r\n");
    expect(await write("dos.txt", "c\nd")).toMatchObject({ line_endings: "crlf" });
    expect(at.get("dos.txt")).toBe("\ufeffc\r\nd");
    at.put("mixed.txt", "a\r\nb\n");
    await write("mixed.txt", "c\nd\n");
    expect(at.get("mixed.txt")).toBe("c\nd\n");
    await write("dos.txt", "\ufeffe\r\nf\n");
    expect(at.get("dos.txt")).toBe("\ufeffe\r\nf\n");
  });

  test("writes through a link that stays inside, and leaves the link a link", async () => {
    mkdirSync(join(at.root, "d"));
    at.put("d/real.ts", "old");
    symlinkSync("d/real.ts", join(at.root, "link.ts"));
    await write("link.ts", "new");
    expect(at.get("d/real.ts")).toBe("new");
    expect(statSync(join(at.root, "link.ts")).isFile()).toBe(true);
  });

  test("with the right hash it writes, with a wrong one or without a file it does not", async () => {
    at.put("a.ts", "one");
    await write("a.ts", "two", sha("one").toUpperCase());
    await expect(write("a.ts", "three", sha("one"))).rejects.toMatchObject({ code: "sha_mismatch" });
    await expect(write("b.ts", "x", sha(""))).rejects.toMatchObject({ code: "sha_mismatch" });
    expect(at.get("a.ts")).toBe("two");
    expect(existsSync(join(at.root, "b.ts"))).toBe(false);
  });

  test("a missing folder, a folder itself and a root are refused with a reason", async () => {
    await expect(write("no/a.ts", "x")).rejects.toMatchObject({
      code: "file_not_found",
      hint: expect.stringContaining("mkdirs"),
    });
    mkdirSync(join(at.root, "d"));
    await expect(write("d", "x")).rejects.toMatchObject({ code: "is_directory" });
    await expect(write(".", "x")).rejects.toMatchObject({ code: "path_denied" });
  });

  test("half a surrogate pair is no text", async () => {
    await expect(write("a.ts", "\ud800")).rejects.toMatchObject({ code: "invalid_args" });
  });

  test("writing the same document again leaves it untouched", async () => {
    at.put("a.md", "same");
    const before = statSync(join(at.root, "a.md"));
    await write("a.md", "same");
    expect(statSync(join(at.root, "a.md")).ino).toBe(before.ino);
  });

  test("an outside change between the check of the hash and the end is noticed", async () => {
    at.put("a.ts", "x".repeat(3_000_000));
    const writing = write("a.ts", "mine", sha("x".repeat(3_000_000)));
    await new Promise((resolve) => setImmediate(resolve));
    writeFileSync(join(at.root, "a.ts"), "outside");
    await expect(writing).rejects.toMatchObject({ code: "sha_mismatch" });
    expect(at.get("a.ts")).toBe("outside");
    expect(at.temps()).toEqual([]);
  });
});

describe("append", () => {
  test("adds at the end of the same file, or makes it", async () => {
    await append("a.ts", "one\n");
    const { ino } = statSync(join(at.root, "a.ts"));
    expect(await append("a.ts", "two\n", sha("one\n"))).toEqual({ bytes_written: 4, new_sha256: sha("one\ntwo\n") });
    expect(at.get("a.ts")).toBe("one\ntwo\n");
    expect(statSync(join(at.root, "a.ts")).ino).toBe(ino);
  });

  test("keeps CRLF", async () => {
    at.put("dos.txt", "a\r\n");
    expect(await append("dos.txt", "b\n")).toEqual({
      bytes_written: 3,
      new_sha256: sha("a\r\nb\r\n"),
      line_endings: "crlf",
    });
  });

  test("a wrong hash changes nothing", async () => {
    at.put("a.ts", "one");
    await expect(append("a.ts", "x", sha("other"))).rejects.toMatchObject({ code: "sha_mismatch" });
    expect(at.get("a.ts")).toBe("one");
  });
});
