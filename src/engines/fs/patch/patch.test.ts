import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createTwoFilesPatch } from "diff";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { fc } from "../../../../tests/harness/random.ts";
import { CALL, openTestRoot, type TestRoot } from "../test-root.ts";

let at: TestRoot;
beforeEach(() => {
  at = openTestRoot();
});
afterEach(() => at[Symbol.dispose]());

const patch = (text: string, dry_run = false) => at.fs.patch(text, { mint: at.write, dry_run }, CALL);
const diff = (name: string, before: string, after: string) =>
  createTwoFilesPatch(`a/${name}`, `b/${name}`, before, after);
const has = (name: string) => existsSync(join(at.root, name));

describe("a patch", () => {
  test("changes, makes, deletes, renames and sets modes in one go", async () => {
    at.put("a.ts", "1\n2\n3\n");
    at.put("gone.ts", "x\n");
    at.put("old.ts", "keep\nthis\n");
    at.put("run.sh", "#!/bin/sh\n");
    const text = [
      diff("a.ts", "1\n2\n3\n", "1\nTWO\n3\n"),
      "diff --git a/new/deep/b.ts b/new/deep/b.ts\nnew file mode 100755\n--- /dev/null\n+++ b/new/deep/b.ts\n@@ -0,0 +1,2 @@\n+b1\n+b2\n",
      "diff --git a/gone.ts b/gone.ts\ndeleted file mode 100644\n--- a/gone.ts\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n",
      "diff --git a/old.ts b/renamed.ts\nsimilarity index 50%\nrename from old.ts\nrename to renamed.ts\n--- a/old.ts\n+++ b/renamed.ts\n@@ -1,2 +1,2 @@\n keep\n-this\n+that\n",
      "diff --git a/run.sh b/run.sh\nold mode 100644\nnew mode 100755\n",
    ].join("");
    const result = await patch(text);
    expect(result).toEqual({
      applied: true,
      files: [
        { path: "a.ts", action: "modify", hunks: 1, rejected: [] },
        { path: "new/deep/b.ts", action: "create", hunks: 1, rejected: [] },
        { path: "gone.ts", action: "delete", hunks: 1, rejected: [] },
        { path: "renamed.ts", action: "rename", hunks: 1, rejected: [] },
        { path: "run.sh", action: "modify", hunks: 0, rejected: [] },
      ],
    });
    expect([at.get("a.ts"), at.get("new/deep/b.ts"), at.get("renamed.ts")]).toEqual([
      "1\nTWO\n3\n",
      "b1\nb2\n",
      "keep\nthat\n",
    ]);
    expect([has("gone.ts"), has("old.ts")]).toEqual([false, false]);
    expect(statSync(join(at.root, "run.sh")).mode & 0o111).toBe(0o111);
    expect(statSync(join(at.root, "new/deep/b.ts")).mode & 0o111).toBe(0o111);
    expect(at.temps()).toEqual([]);
    expect(await at.fs.locks()).toEqual([]);
  });

  test("is all or nothing, with a reason for each hunk that does not fit", async () => {
    at.put("a.ts", "1\n2\n3\n");
    at.put("b.ts", "one\ntwo\nthree\n");
    const result = await patch(
      diff("a.ts", "1\n2\n3\n", "1\n2\n4\n") +
        diff("b.ts", "one\nzwei\nthree\n", "one\n2\nthree\n") +
        diff("c.ts", "x\n", "y\n"),
    );
    expect(result.applied).toBe(false);
    expect(result.files.map((file) => file.rejected)).toEqual([
      [],
      [{ hunk: 1, reason: 'line 2 is "two", but the patch expects "zwei"' }],
      [{ hunk: 0, reason: "c.ts does not exist" }],
    ]);
    expect(at.get("a.ts")).toBe("1\n2\n3\n");
  });

  test("finds its place when lines have moved, and tells when it was applied already", async () => {
    const before = Array.from({ length: 50 }, (_, i) => `line ${i}\n`).join("");
    const after = before.replace("line 40\n", "LINE 40\n");
    at.put("a.ts", `new\n`.repeat(17) + before);
    expect((await patch(diff("a.ts", before, after))).applied).toBe(true);
    expect(at.get("a.ts")).toBe(`new\n`.repeat(17) + after);
    expect((await patch(diff("a.ts", before, after))).files[0]!.rejected[0]!.reason).toMatch(/already/);
  });

  test("a dry run tells the same and changes nothing", async () => {
    at.put("a.ts", "1\n");
    expect(await patch(diff("a.ts", "1\n", "2\n"), true)).toEqual({
      applied: false,
      files: [{ path: "a.ts", action: "modify", hunks: 1, rejected: [] }],
    });
    expect(at.get("a.ts")).toBe("1\n");
  });

  test("what models send: wrong counts, no prefix, fences, a lost blank, bare newlines for a CRLF file", async () => {
    at.put("a.ts", "a\n\nb\nc\n");
    expect((await patch("```diff\n--- a.ts\n+++ a.ts\n@@ -1,9 +1,2 @@\n a\n\n-b\n+B\n c\n```\n")).applied).toBe(true);
    expect(at.get("a.ts")).toBe("a\n\nB\nc\n");
    expect((await patch("--- a.ts\n+++ a.ts\n@@ @@\n-B\n+b\n")).applied).toBe(true);
    at.put("dos.ts", "a\r\nb\r\n");
    expect((await patch("--- a/dos.ts\n+++ b/dos.ts\n@@ -1,2 +1,2 @@\n a\n-b\n+B\n")).applied).toBe(true);
    expect(at.get("dos.ts")).toBe("a\r\nB\r\n");
    at.put("end.ts", "a\nb");
    expect((await patch("--- a/end.ts\n+++ b/end.ts\n@@ -1,2 +1,2 @@\n a\n-b\n+B\n")).applied).toBe(true);
    expect(at.get("end.ts")).toBe("a\nB");
  });

  test("removed lines that look like a header are lines", async () => {
    at.put("q.sql", "-- one\nx\n");
    const text = diff("q.sql", "-- one\nx\n", "++ two\nx\n");
    expect((await patch(text)).applied).toBe(true);
    expect(at.get("q.sql")).toBe("++ two\nx\n");
  });

  test("two parts for one file are both applied", async () => {
    at.put("a.ts", "1\n2\n");
    expect((await patch(diff("a.ts", "1\n2\n", "1\nB\n") + diff("a.ts", "1\nB\n", "A\nB\n"))).applied).toBe(true);
    expect(at.get("a.ts")).toBe("A\nB\n");
  });

  test("two names of one file, an existing target, a link, binary data and plain text are refused", async () => {
    at.put("a.ts", "1\n");
    symlinkSync("a.ts", join(at.root, "b.ts"));
    await expect(patch(diff("a.ts", "1\n", "2\n") + diff("b.ts", "1\n", "3\n"))).rejects.toMatchObject({
      code: "invalid_args",
    });
    await expect(patch("hello")).rejects.toMatchObject({ code: "invalid_args" });
    const made =
      "diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+/etc/passwd\n\\ No newline at end of file\n";
    expect((await patch(made)).files[0]!.rejected[0]!.reason).toMatch(/links/);
    expect((await patch("--- /dev/null\n+++ b/a.ts\n@@ -0,0 +1 @@\n+x\n")).files[0]!.rejected[0]!.reason).toMatch(
      /exists/,
    );
    expect(at.get("a.ts")).toBe("1\n");
  });

  test("a denied or outside path refuses the whole patch", async () => {
    at.put("a.ts", "1\n");
    const hook = "--- /dev/null\n+++ b/.git/hooks/pre-commit\n@@ -0,0 +1 @@\n+evil\n";
    await expect(patch(diff("a.ts", "1\n", "2\n") + hook)).rejects.toMatchObject({ code: "path_denied" });
    await expect(patch(hook.replace(".git/hooks/pre-commit", "../evil"))).rejects.toMatchObject({
      code: "path_denied",
    });
    expect(at.get("a.ts")).toBe("1\n");
    expect(has(".git")).toBe(false);
  });

  test("a step that fails takes the others and the new folders back", async () => {
    at.put("a.ts", "1\n");
    at.put("b.ts", "1\n");
    // The folder of the last step disappears under it between trial and commit.
    mkdirSync(join(at.root, "d"));
    at.put("d/c.ts", "1\n");
    const text = `${diff("a.ts", "1\n", "2\n")}--- /dev/null\n+++ b/n/e/w.ts\n@@ -0,0 +1 @@\n+x\n${diff("d/c.ts", "1\n", "2\n")}`;
    const applying = patch(text);
    await new Promise((resolve) => setImmediate(resolve));
    writeFileSync(join(at.root, "d/c.ts"), "outside\n");
    await expect(applying).rejects.toMatchObject({ code: "sha_mismatch" });
    expect(at.get("a.ts")).toBe("1\n");
    expect(at.get("d/c.ts")).toBe("outside\n");
    expect(has("n")).toBe(false);
    expect(at.temps()).toEqual([]);
  });
});

describe("laws", () => {
  const piece = fc.constantFrom(
    "a\n",
    "b\n",
    "é\n",
    "x\r\n",
    "\r\n",
    "\n",
    "😀",
    "-- q\n",
    "++ q\n",
    "@@ x\n",
    "\\ y\n",
    " z\n",
  );
  const content = fc.array(piece, { maxLength: 30 }).map((parts) => parts.join(""));

  test("applying the diff of two texts to the first gives the second", async () => {
    await fc.assert(
      fc.asyncProperty(content, content, async (before, after) => {
        fc.pre(before !== after);
        at.put("p.ts", before);
        const result = await patch(diff("p.ts", before, after));
        expect(result).toMatchObject({ applied: true });
        expect(at.get("p.ts")).toBe(after);
      }),
      { numRuns: 300 },
    );
  });

  test("what git says about two random trees turns one into the other", async () => {
    const name = fc.constantFrom("a.ts", "d/b.ts", "d/e/ü.ts", "x y.ts", 'q"q.ts', "d/long.ts");
    const tree = fc.dictionary(name, fc.tuple(content, fc.boolean()), { maxKeys: 5 });
    await fc.assert(
      fc.asyncProperty(tree, tree, async (before, after) => {
        const text = gitDiff(before, after);
        fc.pre(text !== "");
        using here = openTestRoot();
        grow(here.root, before);
        const result = await here.fs.patch(text, { mint: here.write, dry_run: false }, CALL);
        expect(result).toMatchObject({ applied: true });
        expect(listed(here.root)).toEqual(
          Object.fromEntries(Object.entries(after).map(([path, [body, isRun]]) => [path, [body, isRun]])),
        );
      }),
      { numRuns: 25 },
    );
  });

  type Tree = Record<string, [string, boolean]>;

  function grow(root: string, tree: Tree): void {
    for (const [path, [body, isRun]] of Object.entries(tree)) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), body);
      if (isRun) chmodSync(join(root, path), 0o755);
    }
  }

  function listed(root: string): Tree {
    const tree: Tree = {};
    for (const path of readdirSync(root, { recursive: true, encoding: "utf8" })) {
      const stat = statSync(join(root, path));
      if (stat.isFile() && !path.startsWith(".llmc/"))
        tree[path] = [readFileSync(join(root, path), "utf8"), (stat.mode & 0o100) !== 0];
    }
    return tree;
  }

  function gitDiff(before: Tree, after: Tree): string {
    const folder = mkdtempSync(join(tmpdir(), "llmc-git-"));
    try {
      const git = (...args: string[]) =>
        execFileSync("git", ["-c", "core.autocrlf=false", "-c", "core.safecrlf=false", ...args], {
          cwd: folder,
          encoding: "utf8",
        });
      git("init", "-q");
      grow(folder, before);
      git("add", "-A");
      const first = git("write-tree").trim();
      for (const path of Object.keys(before)) rmSync(join(folder, path));
      grow(folder, after);
      git("add", "-A");
      return git("diff", "--no-ext-diff", "-M", "--no-color", first, git("write-tree").trim());
    } finally {
      rmSync(folder, { recursive: true });
    }
  }
});
