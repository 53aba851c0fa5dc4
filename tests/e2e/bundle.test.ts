import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { connect } from "../harness/client.ts";
import { temp } from "../harness/temp.ts";

/** What is lowered for an older Node must mean the same as in the sources: here, `using` in a loop whose first turns fail. */
it("the bundle makes folders inside folders that are missing too", async () => {
  using folder = temp();
  await using server = await connect(folder.path);
  expect(await server.call("linux_fs_mkdirs", { path: "a/b/c" })).toMatchObject({ isError: false });
  expect(existsSync(join(folder.path, "a/b/c"))).toBe(true);
  const patch = "--- /dev/null\n+++ b/x/y/z.txt\n@@ -0,0 +1 @@\n+new\n";
  expect(await server.call("repo_write_patch", { patch })).toMatchObject({ isError: false });
  expect(readFileSync(join(folder.path, "x/y/z.txt"), "utf8")).toBe("new\n");
});
