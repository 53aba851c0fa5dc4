import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createRoots } from "../../src/base/path/index.ts";
import { openSqlite } from "../../src/base/store/sqlite.ts";
import { createFs } from "../../src/engines/fs/index.ts";
import type { Deed } from "../../src/engines/fs/journal/index.ts";
import { maaslOptions } from "../../src/engines/fs/options.ts";
import { LOCKS, storeFile } from "../../src/engines/fs/store.ts";
import { runBinary } from "../harness/cli.ts";
import { type Temp, temp } from "../harness/temp.ts";

let base: Temp;
let root: string;
let outside: string;
beforeEach(() => {
  base = temp();
  root = join(base.path, "root");
  outside = join(base.path, "outside");
  for (const folder of [root, outside]) mkdirSync(folder);
  writeFileSync(join(root, "a.txt"), "hello\n");
  writeFileSync(join(outside, "keep"), "KEEP\n");
});
afterEach(() => base[Symbol.dispose]());

describe("a state folder that came with a repository", () => {
  it.each([
    [".llmc", ""],
    [".llmc/stubs", ""],
    [".llmc/audit", ""],
    [".llmc/audit/audit.jsonl", "keep"],
    [".llmc/locks.db", "made"],
    [".llmc/.gitignore", "made"],
  ])("leads nothing out by a link at %s", async (link, target) => {
    mkdirSync(dirname(join(root, link)), { recursive: true });
    symlinkSync(join(outside, target), join(root, link));
    const args = JSON.stringify({ path: "b.txt", content: "x" });
    const { code, stdout, stderr } = await runBinary(["call", "linux_fs_write", args, "--root", root]);
    expect(code).not.toBe(0);
    expect(stdout + stderr).toContain("The state folder must hold no links");
    expect(readdirSync(outside)).toEqual(["keep"]);
    expect(readFileSync(join(outside, "keep"), "utf8")).toBe("KEEP\n");
  });

  it("has a journal that is followed only inside the roots and under names of our making", async () => {
    const state_dir = join(root, ".llmc");
    const ref = (path: string) => ({ path, dev: statSync(path).dev, ino: statSync(path).ino });
    mkdirSync(join(root, "sub"));
    writeFileSync(join(root, "sub/keep"), "KEEP\n");
    const temp_name = ".llmc-0123456789abcdef01.tmp";
    writeFileSync(join(outside, temp_name), "KEEP\n");
    writeFileSync(join(root, temp_name), "left over");
    const planted: Deed[] = [
      { kind: "trash", dir: ref(outside), temp: temp_name },
      { kind: "trash", dir: ref(root), temp: "sub" },
      { kind: "trash", dir: ref(root), temp: "../outside/keep" },
      { kind: "mkdir", dir: ref(root), name: ".." },
      { kind: "trash", dir: { ...ref(outside), path: `${root}/../outside` }, temp: temp_name },
      { kind: "trash", dir: ref(root), temp: temp_name },
    ];
    const db = openSqlite(storeFile(state_dir), LOCKS);
    for (const deed of planted)
      await db.run(
        "INSERT INTO journal (state, deeds, bytes, pid, started, place, at_ms) VALUES ('staged', ?, NULL, 1, 'never', 'elsewhere', 0)",
        JSON.stringify([deed]),
      );
    await db.close();
    const fs = createFs(maaslOptions.parse({}), { roots: createRoots({ roots: [root], state_dir }), state_dir });
    await fs.close();
    expect(readFileSync(join(outside, temp_name), "utf8")).toBe("KEEP\n");
    expect(readFileSync(join(outside, "keep"), "utf8")).toBe("KEEP\n");
    expect(readFileSync(join(root, "sub/keep"), "utf8")).toBe("KEEP\n");
    expect(existsSync(join(root, temp_name))).toBe(false);
  });
});
