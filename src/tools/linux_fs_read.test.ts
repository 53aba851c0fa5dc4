import { expect, test } from "vitest";
import { createBed } from "../../tests/harness/bed.ts";

const LINES = Array.from({ length: 500 }, (_, index) => `line ${index}\n`);

interface Read {
  content: string;
  handle: string | null;
  meta: Record<string, unknown>;
}

test("a short file comes whole, without a handle", async () => {
  await using bed = createBed({ files: { "a.txt": "one\ntwo" } });
  expect(await bed.payload("linux_fs_read", { path: "a.txt" })).toEqual({
    content: "one\ntwo",
    handle: null,
    meta: { path: "a.txt", total_lines: 2, truncated: false },
  });
});

test("a long file comes as 200 lines and a handle to the whole, and slices joined are the file", async () => {
  await using bed = createBed({ files: { "a.txt": LINES.join("") } });
  const first = await bed.payload<Read>("linux_fs_read", { path: "a.txt" });
  expect(first).toMatchObject({ content: LINES.slice(0, 200).join(""), meta: { total_lines: 500, truncated: true } });
  const whole = await bed.payload<Read>("linux_fs_read", { path: first.handle, max_lines: 2000 });
  expect(whole.content).toBe(LINES.join(""));
  const last = await bed.payload<Read>("linux.fs_read", { path: "a.txt", offset_lines: 400, max_lines: 200 });
  expect(last).toMatchObject({ content: LINES.slice(400).join(""), handle: null, meta: { truncated: false } });
});

test("a model reads the text raw under one line of facts", async () => {
  await using bed = createBed({ files: { "a.txt": 'say "hi"\n\ttab\n' } });
  expect(await bed.text("linux_fs_read", { path: "a.txt" })).toBe('{"total_lines":2}\n\nsay "hi"\n\ttab\n');
});

test("a slice that is too dear is cut at a line and says where to go on", async () => {
  await using bed = createBed({ files: { "a.txt": `${"word and number 12345 ".repeat(20)}\n`.repeat(2000) } });
  const text = await bed.text("linux_fs_read", { path: "a.txt", max_lines: 2000 });
  const head = JSON.parse(text.slice(0, text.indexOf("\n")));
  const body = text.slice(text.indexOf("\n\n") + 2);
  expect(head.next_offset_lines).toBe(body.split("\n").length - 1);
  expect(head.next_offset_lines).toBeGreaterThan(10);
});

test("binary files and bytes that are no UTF-8 are told", async () => {
  await using bed = createBed({
    files: { "a.png": Buffer.from("89504e470d0a1a0a00", "hex"), "b.txt": Buffer.from([97, 255, 10]) },
  });
  expect(await bed.payload("linux_fs_read", { path: "a.png" })).toMatchObject({
    content: "",
    meta: { binary: "image/png", size_bytes: 9 },
  });
  expect(await bed.payload("linux_fs_read", { path: "b.txt" })).toMatchObject({
    content: "a\ufffd\n",
    meta: { replaced: true },
  });
});

test("errors carry the words of the contract", async () => {
  await using bed = createBed({ files: { "d/x": "" } });
  const word = async (args: unknown) => JSON.parse(await bed.text("linux_fs_read", args)).meta.error_code;
  expect(await word({ path: "no" })).toBe("NOT_FOUND");
  expect(await word({ path: "../x" })).toBe("INVALID_PATH");
  expect(await word({ path: "d" })).toBe("IS_DIRECTORY");
  expect(await word({ path: "d/x", max_lines: 2001 })).toBe("INVALID_ARGUMENT");
});
