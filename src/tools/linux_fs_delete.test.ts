import { expect, test } from "vitest";
import { createBed } from "../../tests/harness/bed.ts";

test("deletes files, and folders only when recursive", async () => {
  await using bed = createBed({ files: { a: "1", "d/x": "" } });
  expect(await bed.payload("linux_fs_delete", { path: "a" })).toEqual({ ok: true, path: "a", removed: 1 });
  expect(JSON.parse(await bed.text("linux_fs_delete", { path: "d" })).meta.error_code).toBe("IS_DIRECTORY");
  expect(await bed.payload("linux_fs_delete", { path: "d", recursive: true })).toEqual({
    ok: true,
    path: "d",
    removed: 2,
  });
  expect(JSON.parse(await bed.text("linux_fs_delete", { path: ".", recursive: true })).meta.error_code).toBe(
    "INVALID_PATH",
  );
});
