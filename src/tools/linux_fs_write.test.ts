import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createBed } from "../../tests/harness/bed.ts";

const SHA = "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae";

test("writes, appends, and answers with bytes and hash", async () => {
  await using bed = createBed();
  expect(await bed.payload("linux_fs_write", { path: "a.txt", content: "foo", expected_sha256: null })).toEqual({
    bytes_written: 3,
    new_sha256: SHA,
  });
  await bed.payload("linux_fs_write", { path: "a.txt", content: "bar", mode: "append", expected_sha256: SHA });
  expect(readFileSync(join(bed.root, "a.txt"), "utf8")).toBe("foobar");
});

test("the short hash that a model gets is good as a precondition", async () => {
  await using bed = createBed();
  const short = JSON.parse(await bed.text("linux_fs_write", { path: "a.txt", content: "foo" })).new_sha256;
  expect(SHA.startsWith(short)).toBe(true);
  await bed.payload("linux_fs_write", { path: "a.txt", content: "bar", expected_sha256: short });
  const reply = await bed.text("linux_fs_write", { path: "a.txt", content: "x", expected_sha256: short });
  expect(JSON.parse(reply).meta.error_code).toBe("SHA_MISMATCH");
});
