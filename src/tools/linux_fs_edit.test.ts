import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createBed } from "../../tests/harness/bed.ts";

test("one pair or several edits, all or none", async () => {
  await using bed = createBed({ files: { "a.ts": "a\nb\nc\nb\n" } });
  const edit = (args: object) => bed.payload("linux_fs_edit", { path: "a.ts", ...args });
  await expect(edit({ old_text: "b", new_text: "B" })).rejects.toMatchObject({ code: "edit_mismatch" });
  expect(await edit({ old_text: "b", new_text: "B", expected_replacements: 2 })).toMatchObject({ replacements: 2 });
  const edits = [
    { old_text: "a", new_text: "1" },
    { old_text: "c", new_text: "3" },
  ];
  expect(await edit({ edits })).toMatchObject({ replacements: 2, diff: expect.stringContaining("+1\n") });
  expect(readFileSync(join(bed.root, "a.ts"), "utf8")).toBe("1\nB\n3\nB\n");
});

test("a model gets the changed lines only", async () => {
  await using bed = createBed({ files: { "a.ts": "a\nb\nc\n" } });
  const text = await bed.text("linux_fs_edit", { path: "a.ts", old_text: "b", new_text: "B" });
  expect(text).toMatch(/^\{"replacements":1,"new_sha256":"[0-9a-f]{12}"\}\n\n@@ 1\n-b\n\+B$/);
});

test("arguments that do not go together are refused", async () => {
  await using bed = createBed({ files: { "a.ts": "a" } });
  for (const args of [
    {},
    { old_text: "a" },
    { new_text: "b" },
    { old_text: "a", new_text: "b", edits: [{ old_text: "a", new_text: "b" }] },
  ])
    await expect(bed.payload("linux_fs_edit", { path: "a.ts", ...args })).rejects.toMatchObject({
      code: "invalid_args",
    });
});
