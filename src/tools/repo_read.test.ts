import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createBed } from "../../tests/harness/bed.ts";

test("reads below a root, bounded, and not beside it", async () => {
  await using bed = createBed({ files: { "p/a.txt": "abcdef", "q.txt": "secret" } });
  expect(await bed.payload("repo_read", { root: "p", path: "a.txt" })).toEqual({
    data: "abcdef",
    meta: { path: "p/a.txt", length: 6, truncated: false },
  });
  expect(await bed.payload("repo_read", { root: "p", path: "a.txt", max_bytes: 2 })).toMatchObject({
    data: "ab",
    meta: { truncated: true, size: 6, handle: expect.stringMatching(/^res_/) },
  });
  symlinkSync("../q.txt", join(bed.root, "p/link"));
  for (const path of ["../q.txt", "link"])
    await expect(bed.payload("repo_read", { root: "p", path })).rejects.toMatchObject({ code: "path_denied" });
});
