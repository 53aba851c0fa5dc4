import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Bed, createBed } from "../../harness/bed.ts";

let bed: Bed;
let outside: string;

/** The whole table three times: a call from code passes the same door. */
describe.each(["outside", "javascript", "python"] as const)("called from %s:", (place) => {
  const from = place === "outside" ? undefined : place;

  beforeEach(() => {
    outside = mkdtempSync(join(tmpdir(), "llmc-out-"));
    writeFileSync(join(outside, "secret.txt"), "SECRET\n");
    bed = createBed({ from });
  });
  afterEach(async () => {
    await bed[Symbol.asyncDispose]();
    expect(readdirSync(outside)).toEqual(["secret.txt"]);
    expect(readFileSync(join(outside, "secret.txt"), "utf8")).toBe("SECRET\n");
    rmSync(outside, { recursive: true });
  });

  /** Every file tool, on one path. */
  const READS = (path: string): [string, object][] => [
    ["linux_fs_read", { path }],
    ["read_file", { path }],
    ["repo_read", { path }],
    ["stat", { path }],
    ["linux_fs_list", { path }],
    ["list_dir", { path }],
  ];
  const WRITES = (path: string): [string, object][] => [
    ["linux_fs_write", { path, content: "evil\n" }],
    ["linux_fs_write", { path, content: "evil\n", mode: "append" }],
    ["linux_fs_edit", { path, old_text: "SECRET", new_text: "evil" }],
    ["linux_fs_mkdirs", { path: `${path}/deep` }],
    ["repo_write_patch", { patch: `--- /dev/null\n+++ b/${path}\n@@ -0,0 +1 @@\n+evil\n` }],
  ];
  const MOVES = (path: string): [string, object][] => [
    ["linux_fs_move", { source: path, target: "stolen" }],
    ["linux_fs_move", { source: "mine", target: path }],
    ["linux_fs_delete", { path, recursive: true }],
  ];

  async function refusals(calls: [string, object][]): Promise<string[]> {
    const codes: string[] = [];
    for (const [name, args] of calls) {
      const reply = await bed.call(name, args);
      codes.push(reply.ok ? `${name} answered ${JSON.stringify(reply.payload)}` : reply.fault.code);
    }
    return [...new Set(codes)];
  }

  describe("paths", () => {
    test("out of the root in every spelling", async () => {
      bed.write("mine", "x");
      const sibling = `${bed.root}-sibling`;
      mkdirSync(sibling);
      writeFileSync(join(sibling, "x"), "SECRET");
      try {
        const paths = [
          "../../etc/passwd",
          "/etc/passwd",
          `${bed.root}/../${basename(outside)}/secret.txt`,
          `../${basename(sibling)}/x`,
          join(sibling, "x"),
          "~/.ssh/id_rsa",
          "..",
        ];
        for (const path of paths)
          expect(await refusals([...READS(path), ...WRITES(path), ...MOVES(path)])).toEqual(["path_denied"]);
        expect(readFileSync(join(sibling, "x"), "utf8")).toBe("SECRET");
      } finally {
        rmSync(sibling, { recursive: true });
      }
    });

    test("NUL, 5,000 characters and an empty path are refused; %2e and a trailing space are only letters", async () => {
      bed.write("mine", "x");
      expect(await refusals([...READS("a\0b"), ...MOVES("a\0b"), ...READS("x".repeat(5000)), ...READS("")])).toEqual([
        "path_denied",
      ]);
      expect(await refusals(READS("%2e%2e/etc/passwd"))).toEqual(["file_not_found"]);
      expect(await refusals(READS("mine "))).toEqual(["file_not_found"]);
    });

    test("missing and forbidden outside read the same", async () => {
      const message = async (path: string) => {
        const reply = await bed.call("stat", { path });
        return reply.ok ? "" : reply.fault.message.replace(path, "PATH");
      };
      expect(await message(join(outside, "secret.txt"))).toBe(await message(join(outside, "missing.txt")));
      symlinkSync(join(outside, "secret.txt"), join(bed.root, "l1"));
      symlinkSync(join(outside, "missing.txt"), join(bed.root, "l2"));
      expect((await message("l1")).replace("l1", "")).toBe((await message("l2")).replace("l2", ""));
    });

    test("the root itself may be a link", async () => {
      const link = `${bed.root}-link`;
      symlinkSync(bed.root, link);
      await using other = createBed({ from, root: link });
      await other.payload("linux_fs_write", { path: "a.txt", content: "x" });
      expect(await other.payload("linux_fs_read", { path: join(link, "a.txt") })).toMatchObject({
        content: "x",
        meta: { path: "a.txt" },
      });
      rmSync(link);
    });

    test("roots, / and a parent of a root cannot be deleted or moved", async () => {
      for (const path of [".", bed.root, "/", "..", join(bed.root, "..")])
        expect(
          await refusals([
            ["linux_fs_delete", { path, recursive: true }],
            ["linux_fs_move", { source: path, target: "x" }],
          ]),
        ).toEqual(["path_denied"]);
    });
  });

  describe("links that lead out", () => {
    beforeEach(() => {
      bed.write("mine", "x");
      symlinkSync(join(outside, "secret.txt"), join(bed.root, "file"));
      symlinkSync(outside, join(bed.root, "folder"));
      symlinkSync(join(outside, "new.txt"), join(bed.root, "dangling"));
      bed.write("sub/x", "");
      symlinkSync("../file", join(bed.root, "sub/twice"));
    });

    test("are not read, listed or written through", async () => {
      for (const path of ["file", "folder", "folder/secret.txt", "folder/missing", "dangling", "sub/twice"])
        expect(await refusals([...READS(path), ...WRITES(path)])).toEqual(["path_denied"]);
    });

    test("are moved and deleted as links, and nothing behind them is", async () => {
      expect(await refusals([...MOVES("folder/secret.txt"), ...MOVES("folder/new")])).toEqual(["path_denied"]);
      await bed.payload("linux_fs_move", { source: "folder", target: "elsewhere" });
      await bed.payload("linux_fs_delete", { path: "elsewhere", recursive: true });
      await bed.payload("linux_fs_delete", { path: "file" });
      expect(await bed.payload("list_dir", { path: "." })).toMatchObject({ data: ["dangling", "mine", "sub/"] });
    });

    test("are listed as links and not followed", async () => {
      const { entries } = await bed.payload<{ entries: { path: string; type: string }[] }>("linux_fs_list", {
        path: ".",
        depth: 10,
      });
      expect(entries.filter((entry) => entry.type === "symlink").map((entry) => entry.path)).toEqual([
        "dangling",
        "file",
        "folder",
        "sub/twice",
      ]);
      expect(JSON.stringify(entries)).not.toContain("secret");
    });
  });

  describe("what is no regular file", () => {
    test("FIFOs, sockets and devices are refused at once, and an ordinary read still works", async () => {
      execFileSync("mkfifo", [join(bed.root, "fifo")]);
      const server = createServer().listen(join(bed.root, "sock"));
      await new Promise((resolve) => server.once("listening", resolve));
      bed.write("plain", "x");
      const five = Array.from({ length: 5 }, () => refusals([["linux_fs_read", { path: "fifo" }]]));
      expect(await Promise.all(five)).toEqual(Array.from({ length: 5 }, () => ["path_denied"]));
      for (const path of ["fifo", "sock"])
        expect(await refusals([...READS(path).slice(0, 3), ...WRITES(path).slice(0, 3)])).toEqual(["path_denied"]);
      expect(await bed.payload("linux_fs_read", { path: "plain" })).toMatchObject({ content: "x" });
      await new Promise((resolve) => server.close(resolve));
    });

    test("the kernel's own files are refused even when an operator allows /", async () => {
      await using wide = createBed({ from, config: '[mcp.tools]\nallowed_roots = ["/"]\n' });
      for (const path of [
        "/dev/zero",
        "/proc/self/environ",
        "/dev/null",
        "/sys/kernel/mm/transparent_hugepage/enabled",
      ]) {
        const reply = await wide.call("linux_fs_read", { path });
        expect(reply.ok ? "answered" : reply.fault.code).toBe("path_denied");
      }
    });
  });

  describe("denied names", () => {
    const NAMES = [
      ".git/hooks/pre-commit",
      ".git/config",
      ".GIT/config",
      "sub/.git/config",
      ".mcp.json",
      ".vscode/tasks.json",
      ".cursor/mcp.json",
      ".claude/settings.json",
      ".bashrc",
      ".zshrc",
      ".profile",
      "llmc.toml",
    ];

    test("are not written, whether they exist or not", async () => {
      for (const name of NAMES) expect(await refusals(WRITES(name))).toEqual(["path_denied"]);
      for (const name of NAMES) bed.write(name, "SECRET\n");
      bed.write("mine", "x");
      for (const name of NAMES) expect(await refusals([...WRITES(name), ...MOVES(name)])).toEqual(["path_denied"]);
      for (const name of NAMES) expect(readFileSync(join(bed.root, name), "utf8")).toBe("SECRET\n");
    });

    test("are not reached through a link, a folder that is moved, or a folder that is deleted", async () => {
      bed.write(".git/config", "keep");
      bed.write("mine", "x");
      symlinkSync(".git", join(bed.root, "g"));
      symlinkSync(".git/config", join(bed.root, "c"));
      expect(
        await refusals([
          ...WRITES("g/new"),
          ...WRITES("g/config").slice(0, 3),
          ...WRITES("c").slice(0, 2),
          ...MOVES("g/config"),
        ]),
      ).toEqual(["path_denied"]);
      bed.write("repo/.git/config", "keep");
      expect(
        await refusals([
          ["linux_fs_delete", { path: "repo", recursive: true }],
          ["linux_fs_move", { source: "repo", target: "r" }],
        ]),
      ).toEqual(["path_denied"]);
      expect(readFileSync(join(bed.root, ".git/config"), "utf8")).toBe("keep");
    });

    test("the state folder is denied to readers too, but for its stubs", async () => {
      bed.write(".llmc/stubs/a.ts", "stub");
      bed.write(".llmc/x", "SECRET");
      bed.write("mine", "x");
      symlinkSync(".llmc/x", join(bed.root, "s"));
      expect(
        await refusals([
          ...READS(".llmc/x"),
          ...READS(".llmc").slice(4),
          ...READS("s"),
          ...WRITES(".llmc/x"),
          ...MOVES(".llmc/x"),
          ...MOVES(".llmc"),
        ]),
      ).toEqual(["path_denied"]);
      expect(await bed.payload("linux_fs_read", { path: ".llmc/stubs/a.ts" })).toMatchObject({ content: "stub" });
      expect(await refusals(WRITES(".llmc/stubs/a.ts").slice(0, 2))).toEqual(["path_denied"]);
    });

    test("an operator can lift a rule", async () => {
      await using other = createBed({ from, config: '[mcp.tools]\ndenied_paths = ["!.vscode"]\n' });
      mkdirSync(join(other.root, ".vscode"));
      await other.payload("linux_fs_write", { path: ".vscode/tasks.json", content: "{}" });
      expect((await other.call("linux_fs_write", { path: "llmc.toml", content: "" })).ok).toBe(false);
    });
  });

  describe("contents", () => {
    test("a sparse file of 3 GB is read at its beginning at once, and whole only in slices", async () => {
      bed.write("huge", "one\ntwo\nthree\n".padEnd(9000, "x"));
      truncateSync(join(bed.root, "huge"), 3 * 1024 ** 3);
      const before = process.memoryUsage.rss();
      expect(await bed.payload("linux_fs_read", { path: "huge", max_lines: 2 })).toMatchObject({
        content: "one\ntwo\n",
        meta: { truncated: true },
      });
      expect(await bed.payload("read_file", { path: "huge" })).toMatchObject({
        meta: { length: 1024 * 1024, truncated: true },
      });
      expect(await refusals([["linux_fs_edit", { path: "huge", old_text: "one", new_text: "x" }]])).toEqual([
        "file_too_large",
      ]);
      expect(process.memoryUsage.rss() - before).toBeLessThan((from === undefined ? 60 : 200) * 1024 ** 2);
    });

    test("an edit and a rewrite keep mode and the bytes they do not touch", async () => {
      const bytes = Buffer.concat([Buffer.from("\ufeffone\r\n"), Buffer.from([0xff, 0xc0]), Buffer.from("\r\ntwo")]);
      for (const mode of [0o755, 0o600]) {
        bed.write("f", bytes);
        chmodSync(join(bed.root, "f"), mode);
        await bed.payload("linux_fs_edit", { path: "f", old_text: "two", new_text: "$&$`$$\\n" });
        expect(readFileSync(join(bed.root, "f"))).toEqual(
          Buffer.concat([bytes.subarray(0, -3), Buffer.from("$&$`$$\\n")]),
        );
        await bed.payload("linux_fs_write", { path: "f", content: "a\nb" });
        expect(readFileSync(join(bed.root, "f"), "utf8")).toBe("\ufeffa\r\nb");
        expect(statSync(join(bed.root, "f")).mode & 0o777).toBe(mode);
      }
    });

    test("a hard link from outside is not changed by a rewrite", async () => {
      linkSync(join(outside, "secret.txt"), join(bed.root, "hard"));
      await bed.payload("linux_fs_write", { path: "hard", content: "mine\n" });
      expect(readFileSync(join(outside, "secret.txt"), "utf8")).toBe("SECRET\n");
    });

    test("a name with newline, ESC and bidi marks is one entry and one harmless line", async () => {
      const name = "a\nfake.ts\u001b[31m\u202etxt";
      bed.write(name, "");
      for (const tool of ["linux_fs_list", "list_dir"]) {
        const text = await bed.text(tool, { path: "." });
        expect(text).not.toMatch(/[\u001b\u202e]/);
        expect(text.split("\n").filter((line) => line.startsWith("fake"))).toEqual([]);
      }
      const error = await bed.text("linux_fs_edit", { path: name, old_text: "x", new_text: "y" });
      expect(error).not.toMatch(/[\u001b\u202e]/);
      expect(existsSync(join(bed.root, name))).toBe(true);
    });
  });
});
