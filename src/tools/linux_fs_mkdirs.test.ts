import { expect, test } from "vitest";
import { createBed } from "../../tests/harness/bed.ts";

test("makes folders and says whether it did; the singular name works too", async () => {
  await using bed = createBed();
  expect(await bed.payload("linux_fs_mkdirs", { path: "a/b" })).toEqual({ ok: true, path: "a/b", created: true });
  expect(await bed.payload("linux_fs_mkdir", { path: "a/b" })).toEqual({ ok: true, path: "a/b", created: false });
  await expect(bed.payload("linux_fs_mkdirs", { path: "a/b", exist_ok: false })).rejects.toMatchObject({
    code: "target_exists",
  });
});
