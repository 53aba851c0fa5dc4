import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createRoots } from "../../../src/base/path/index.ts";
import { createFs } from "../../../src/engines/fs/index.ts";
import { maaslOptions } from "../../../src/engines/fs/options.ts";
import { fc } from "../../harness/random.ts";

test("whatever a path is made of, nothing outside is read, listed, written or removed", async () => {
  const base = mkdtempSync(join(tmpdir(), "llmc-paths-"));
  onTestFinished(() => rmSync(base, { recursive: true }));
  const inside = join(base, "root");
  mkdirSync(join(inside, "d/e"), { recursive: true });
  mkdirSync(join(base, "root-sibling"));
  mkdirSync(join(base, "only-outside"));
  for (const name of ["secret", "root-sibling/secret"]) writeFileSync(join(base, name), "SECRET");
  const links = {
    out: "..",
    up: "../..",
    abs: base,
    file: "../secret",
    self: ".",
    deep: "d/e/../../..",
    loop: "loop",
    in: "d",
  };
  const grow = () => {
    mkdirSync(join(inside, "d/e"), { recursive: true });
    for (const [name, target] of Object.entries(links)) {
      rmSync(join(inside, name), { force: true, recursive: true });
      symlinkSync(target, join(inside, name));
    }
  };
  grow();
  const roots = createRoots({ roots: [inside] });
  const fs = createFs(maaslOptions.parse({}), { roots, state_dir: join(base, "state") });
  const call = { owner: "paths", signal: new AbortController().signal };
  const segment = fc.constantFrom(
    "..",
    ".",
    "",
    "d",
    "e",
    "secret",
    "root",
    "root-sibling",
    "new",
    "~",
    "%2e%2e",
    ...Object.keys(links),
  );
  const path = fc
    .tuple(fc.constantFrom("", "/", `${inside}/`, `${base}/`), fc.array(segment, { minLength: 1, maxLength: 7 }))
    .map(([start, parts]) => start + parts.join("/"));
  const deeds: ((name: string) => Promise<unknown> | unknown)[] = [
    (name) => fs.readBytes(roots.mint(name, "read"), 0, 100),
    (name) => fs.readLines(roots.mint(name, "read"), 0, 10),
    (name) => fs.listDir(roots.mint(name, "read"), 100, true),
    (name) => fs.write(roots.mint(name, "write"), "evil", { mode: "rewrite" }, call),
    (name) => fs.write(roots.mint(name, "write"), "evil", { mode: "append" }, call),
    (name) => fs.mkdirs(roots.mint(name, "write"), true, call),
    (name) => fs.move(roots.mint(name, "write"), roots.mint("stolen", "write"), false, call),
    (name) => fs.remove(roots.mint(name, "write"), true, call),
  ];
  await fc.assert(
    fc.asyncProperty(path, fc.nat(deeds.length - 1), async (name, index) => {
      const answer = await (async () => JSON.stringify(await deeds[index]!(name)))().catch(() => "");
      expect(answer).not.toContain("SECRET");
      expect(answer).not.toContain("only-outside");
      const around = readdirSync(base).filter((entry) => entry !== "state");
      expect(around.sort()).toEqual(["only-outside", "root", "root-sibling", "secret"]);
      expect(readdirSync(join(base, "root-sibling"))).toEqual(["secret"]);
      for (const secret of ["secret", "root-sibling/secret"])
        expect(readFileSync(join(base, secret), "utf8")).toBe("SECRET");
      if (index > 4) {
        rmSync(join(inside, "stolen"), { force: true, recursive: true });
        grow();
      }
    }),
    { numRuns: 3000 },
  );
  fs.close();
});
