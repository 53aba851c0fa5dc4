import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createBed } from "../../tests/harness/bed.ts";

const PATCH =
  "--- a/a.ts\n+++ b/a.ts\n@@ -1,2 +1,2 @@\n-one\n+ONE\n two\n--- /dev/null\n+++ b/n/b.ts\n@@ -0,0 +1 @@\n+new\n";

test("applies below a root, and tells a model what it did", async () => {
  await using bed = createBed({ files: { "p/a.ts": "one\ntwo\n" } });
  expect(await bed.payload("repo_write_patch", { root: "p", patch: PATCH, dry_run: true })).toMatchObject({
    applied: false,
  });
  expect(await bed.text("repo_write_patch", { root: "p", patch: PATCH })).toBe(
    '{"applied":true,"files":["modify p/a.ts (1)","create p/n/b.ts (1)"]}',
  );
  expect(readFileSync(join(bed.root, "p/a.ts"), "utf8")).toBe("ONE\ntwo\n");
  expect(readFileSync(join(bed.root, "p/n/b.ts"), "utf8")).toBe("new\n");
});

test("a refused hunk refuses all, with its reason", async () => {
  await using bed = createBed({ files: { "a.ts": "eins\ntwo\n" } });
  expect(JSON.parse(await bed.text("repo_write_patch", { patch: PATCH }))).toEqual({
    applied: false,
    files: [{ path: "a.ts", rejected: [{ hunk: 1, reason: 'line 1 is "eins", but the patch expects "one"' }] }],
  });
});

test("a path beside the root is refused", async () => {
  await using bed = createBed({ files: { "p/x": "" } });
  const patch = PATCH.replace("b/n/b.ts", "b/../n/b.ts");
  await expect(bed.payload("repo_write_patch", { root: "p", patch })).rejects.toMatchObject({ code: "path_denied" });
});
