import { existsSync, readdirSync, readFileSync } from "node:fs";
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

const DIST = new URL("../../dist/", import.meta.url);

/** The pieces that are loaded with this one, itself among them. */
function loadedWith(name: string, seen = new Set<string>()): Set<string> {
  if (seen.has(name)) return seen;
  seen.add(name);
  const text = readFileSync(new URL(name, DIST), "utf8");
  for (const [, piece] of text.matchAll(/(?:from|import)"\.\/([\w.-]+\.mjs)"/g)) loadedWith(piece!, seen);
  return seen;
}

function pieceOf(stem: string): string {
  return readdirSync(DIST).find((name) => new RegExp(`^${stem}-[A-Z0-9]{8}\\.mjs$`).test(name))!;
}

it("a start loads a few files, and no process but the server loads the server", () => {
  const server = [pieceOf("process"), pieceOf("serve")];
  const started = new Set(["main.mjs", ...server].flatMap((name) => [...loadedWith(name)]));
  expect([...started].length).toBeLessThan(20);
  for (const other of ["sandbox-child.mjs", "rag-worker.mjs", "rag-outline.mjs"])
    for (const name of server) expect([...loadedWith(other)]).not.toContain(name);
});
