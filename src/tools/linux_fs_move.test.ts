import { expect, test } from "vitest";
import { createBed } from "../../tests/harness/bed.ts";

test("moves, into a folder only with a slash, and never over something", async () => {
  await using bed = createBed({ files: { a: "1", b: "2", "d/x": "" } });
  expect(await bed.payload("linux_fs_move", { source: "a", target: "c" })).toEqual({
    ok: true,
    source: "a",
    target: "c",
  });
  expect(await bed.payload("linux_fs_move", { source: "c", target: "d/" })).toEqual({
    ok: true,
    source: "c",
    target: "d/c",
  });
  expect(JSON.parse(await bed.text("linux_fs_move", { source: "b", target: "d/c" })).meta.error_code).toBe(
    "TARGET_EXISTS",
  );
  expect(await bed.text("linux_fs_move", { source: "b", target: "e" })).toBe('{"ok":true}');
});
