import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createRoots } from "../../base/path/index.ts";
import { createFs, type TreeEntry } from "./index.ts";
import { maaslOptions } from "./options.ts";
import { CALL, openTestRoot, type TestRoot } from "./test-root.ts";

let at: TestRoot;
beforeEach(() => {
  at = openTestRoot();
});
afterEach(() => at[Symbol.dispose]());

const dir = (name: string) => mkdirSync(join(at.root, name), { recursive: true });
const has = (name: string) => lstatSync(join(at.root, name), { throwIfNoEntry: false }) !== undefined;
const move = (source: string, target: string) =>
  at.fs.move(at.write(source), at.write(target), target.endsWith("/"), CALL);
const remove = (name: string, recursive = false) => at.fs.remove(at.write(name), recursive, CALL);

describe("move", () => {
  test("moves files, folders and links themselves", async () => {
    at.put("a", "1");
    dir("d/e");
    at.put("d/e/f", "2");
    symlinkSync("/etc", join(at.root, "out"));
    expect(await move("a", "b")).toEqual({ source: "a", target: "b" });
    await move("d", "g");
    await move("out", "g/link");
    expect(at.get("b")).toBe("1");
    expect(at.get("g/e/f")).toBe("2");
    expect(readlinkSync(join(at.root, "g/link"))).toBe("/etc");
    expect([has("a"), has("d"), has("out")]).toEqual([false, false, false]);
    expect(at.temps()).toEqual([]);
  });

  test("never replaces what is there; into a folder only with a slash", async () => {
    at.put("a", "1");
    at.put("b", "2");
    dir("d");
    await expect(move("a", "b")).rejects.toMatchObject({ code: "target_exists" });
    await expect(move("a", "d")).rejects.toMatchObject({ code: "target_exists" });
    expect(await move("a", "d/")).toEqual({ source: "a", target: "d/a" });
    expect([at.get("d/a"), at.get("b")]).toEqual(["1", "2"]);
  });

  test("a missing source, a missing folder, a folder into itself and a root are refused", async () => {
    dir("d");
    await expect(move("no", "b")).rejects.toMatchObject({ code: "file_not_found" });
    await expect(move("d", "x/y")).rejects.toMatchObject({ code: "file_not_found" });
    await expect(move("d", "d/e")).rejects.toMatchObject({ code: "invalid_args" });
    await expect(move(".", "b")).rejects.toMatchObject({ code: "path_denied" });
  });

  test("a folder that would bring a denied name is refused whole", async () => {
    dir("x/fish");
    at.put("x/fish/config.fish", "evil");
    await expect(move("x", ".config")).rejects.toMatchObject({ code: "path_denied" });
    expect(has("x/fish/config.fish")).toBe(true);
  });

  test("goes to another file system, with all below", async () => {
    const other = mkdtempSync("/dev/shm/llmc-fs-");
    try {
      const roots = createRoots({ roots: [at.root, other] });
      const fs = createFs(maaslOptions.parse({}), { roots, state_dir: at.state_dir });
      dir("d");
      at.put("d/f", "1", 0o755);
      symlinkSync("f", join(at.root, "d/l"));
      at.put("a", "2");
      await fs.move(roots.mint("d", "write"), roots.mint(join(other, "d"), "write"), false, CALL);
      await fs.move(roots.mint("a", "write"), roots.mint(join(other, "a"), "write"), false, CALL);
      fs.close();
      expect(readdirSync(other).sort()).toEqual(["a", "d"]);
      expect(readlinkSync(join(other, "d/l"))).toBe("f");
      expect(statSync(join(other, "d/f")).mode & 0o777).toBe(0o755);
      expect(readdirSync(at.root)).toEqual([".llmc"]);
    } finally {
      rmSync(other, { recursive: true });
    }
  });
});

describe("delete", () => {
  test("files, links themselves, and folders only when asked for", async () => {
    at.put("a", "1");
    dir("d/e");
    at.put("d/e/f", "2");
    symlinkSync("d", join(at.root, "l"));
    expect(await remove("a")).toEqual({ path: "a", removed: 1 });
    await remove("l", true);
    expect(has("d/e/f")).toBe(true);
    await expect(remove("d")).rejects.toMatchObject({ code: "is_directory" });
    expect(await remove("d", true)).toEqual({ path: "d", removed: 3 });
    expect(readdirSync(at.root)).toEqual([".llmc"]);
  });

  test("a root, a folder that holds a root, and a folder that holds a denied name are refused", async () => {
    dir("a/b/c");
    const roots = createRoots({ roots: [at.root, join(at.root, "a/b")] });
    const fs = createFs(maaslOptions.parse({}), { roots, state_dir: at.state_dir });
    for (const name of [at.root, join(at.root, "a"), join(at.root, "a/b")])
      await expect(fs.remove(roots.mint(name, "write"), true, CALL)).rejects.toMatchObject({ code: "path_denied" });
    fs.close();
    dir("repo/.git/hooks");
    await expect(remove("repo", true)).rejects.toMatchObject({ code: "path_denied" });
    expect(has("repo/.git/hooks")).toBe(true);
    expect(() => at.write("..")).toThrow(expect.objectContaining({ code: "path_denied" }));
    expect(() => at.write("/")).toThrow(expect.objectContaining({ code: "path_denied" }));
  });

  test("links below a folder are removed and not followed", async () => {
    dir("keep");
    at.put("keep/x", "1");
    dir("d");
    symlinkSync("../keep", join(at.root, "d/l"));
    await remove("d", true);
    expect(at.get("keep/x")).toBe("1");
  });
});

describe("mkdirs", () => {
  const mkdirs = async (name: string, exist_ok = true) => at.fs.mkdirs(at.write(name), exist_ok, CALL);

  test("makes what is missing, and says whether it did", async () => {
    expect(await mkdirs("a/b/c")).toEqual({ path: "a/b/c", created: true });
    expect(await mkdirs("a/b/c")).toEqual({ path: "a/b/c", created: false });
    expect(await mkdirs(".")).toEqual({ path: ".", created: false });
    await expect(mkdirs("a/b", false)).rejects.toMatchObject({ code: "target_exists" });
  });

  test("a file in the way, a link that leads out or nowhere, and a denied name are refused", async () => {
    at.put("f", "");
    symlinkSync("/tmp", join(at.root, "out"));
    symlinkSync("/nowhere/x", join(at.root, "dangling"));
    await expect(mkdirs("f/x")).rejects.toMatchObject({ code: "not_a_directory" });
    await expect(mkdirs("f")).rejects.toMatchObject({ code: "target_exists" });
    for (const name of ["out/llmc-x", "dangling/x", "dangling"])
      await expect(mkdirs(name)).rejects.toMatchObject({ code: "path_denied" });
    await expect(mkdirs("a/.git/hooks")).rejects.toMatchObject({ code: "path_denied" });
    expect(has("a")).toBe(false);
    expect(existsSync("/tmp/llmc-x")).toBe(false);
  });
});

describe("a tree", () => {
  const walk = async (name: string, options: { depth?: number; include_hidden?: boolean; file_glob?: string } = {}) => {
    const all: TreeEntry[] = [];
    for await (const batch of at.fs.walk(at.read(name), {
      depth: 2,
      include_hidden: false,
      signal: CALL.signal,
      ...options,
    }))
      all.push(...batch);
    return all;
  };

  test("comes folder by folder, the nearest first, without hidden ones and without following links", async () => {
    dir("b/c/d/e");
    dir(".git");
    at.put("b/x.ts", "123");
    at.put("b/c/y.ts", "");
    at.put("a.ts", "");
    symlinkSync("/etc", join(at.root, "out"));
    expect((await walk(".")).map((entry) => `${entry.type} ${entry.path}`)).toEqual([
      "file a.ts",
      "directory b",
      "symlink out",
      "directory b/c",
      "file b/x.ts",
      "directory b/c/d",
      "file b/c/y.ts",
    ]);
    expect((await walk("b", { depth: 0 })).map((entry) => entry.path)).toEqual(["b/c", "b/x.ts"]);
    expect((await walk(".", { file_glob: "*.ts" })).map((entry) => entry.path)).toEqual(["a.ts", "b/x.ts", "b/c/y.ts"]);
    expect((await walk(".", { file_glob: "b/*.ts" })).map((entry) => entry.path)).toEqual(["b/x.ts"]);
    expect((await walk(".", { file_glob: "x.ts" }))[0]).toMatchObject({
      size_bytes: 3,
      mtime_iso: expect.stringMatching(/^\d{4}-.*Z$/),
    });
  });

  test("does not enter the state folder", async () => {
    mkdirSync(at.state_dir, { recursive: true });
    writeFileSync(join(at.state_dir, "secret"), "");
    const paths = (await walk(".", { include_hidden: true })).map((entry) => entry.path);
    expect(paths).toEqual([".llmc"]);
  });

  test("a file is no tree", async () => {
    at.put("f", "");
    await expect(walk("f")).rejects.toMatchObject({ code: "not_a_directory" });
  });
});
