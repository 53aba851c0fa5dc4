import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Fault } from "../../base/fault.ts";
import { createRoots } from "../../base/path/index.ts";
import { findRipgrep, type Ripgrep } from "./binary.ts";
import { type ContentQuery, createSearch, type FilesQuery, searchOptions } from "./index.ts";

let dir: string;
const never = new AbortController().signal;

function write(path: string, content: string | Uint8Array): void {
  mkdirSync(dirname(join(dir, path)), { recursive: true });
  writeFileSync(join(dir, path), content);
}

function engine(options: object = {}) {
  const roots = createRoots({ roots: [dir], state_dir: join(dir, ".llmc") });
  const search = createSearch(searchOptions.parse(options), { roots, state_dir: join(dir, ".llmc"), path: "" });
  const root = (path: string) => roots.mint(path, "read");
  return {
    content: (
      { in: at = ".", ...query }: Partial<Omit<ContentQuery, "root">> & { pattern: string; in?: string },
      signal = never,
    ) =>
      search.content(
        { root: root(at), literal: false, ignore_case: true, context_lines: 0, max_results: 100, ...query },
        signal,
      ),
    files: (
      { in: at = ".", ...query }: Partial<Omit<FilesQuery, "root">> & { pattern: string; in?: string },
      signal = never,
    ) => search.files({ root: root(at), max_results: 200, ...query }, signal),
  };
}

async function whole(parts: AsyncIterable<Uint8Array>): Promise<unknown[]> {
  const all = [];
  for await (const part of parts) all.push(part);
  return JSON.parse(Buffer.concat(all).toString());
}

const places = (hits: readonly { path: string; line: number }[]) => hits.map((hit) => `${hit.path}:${hit.line}`);
const paths = (hits: readonly { path: string }[]) => hits.map((hit) => hit.path);

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "llmc-search-"));
});
afterEach(() => {
  rmSync(dir, { recursive: true });
});

describe("a search in contents", () => {
  it("gives path, line and snippet, by path and then line", async () => {
    write("b.txt", "needle\nx\nneedle two\n");
    write("a/z.txt", "hay\nneedle\n");
    write("a.txt", "needle\n");
    const result = await engine().content({ pattern: "needle" });
    expect(result.hits).toEqual([
      { path: "a/z.txt", line: 2, snippet: "needle" },
      { path: "a.txt", line: 1, snippet: "needle" },
      { path: "b.txt", line: 1, snippet: "needle" },
      { path: "b.txt", line: 3, snippet: "needle two" },
    ]);
    expect(result).toMatchObject({ total_hits: 4, total_hits_is_lower_bound: false, truncated: false });
  });

  it("takes a pattern as a regex, or as it is", async () => {
    write("a.txt", "f(x)\nfx\n$1.50 -e --pre=x\n");
    expect(places((await engine().content({ pattern: "f.x" })).hits)).toEqual(["a.txt:1"]);
    expect(places((await engine().content({ pattern: "f(x)", literal: true })).hits)).toEqual(["a.txt:1"]);
    expect(places((await engine().content({ pattern: "f(x)" })).hits)).toEqual(["a.txt:2"]);
    expect(places((await engine().content({ pattern: "$1.50", literal: true })).hits)).toEqual(["a.txt:3"]);
    expect(places((await engine().content({ pattern: "--pre=x" })).hits)).toEqual(["a.txt:3"]);
  });

  it("regards case only when asked", async () => {
    write("a.txt", "Word\nword\nWÖRD\n");
    expect(places((await engine().content({ pattern: "word" })).hits)).toEqual(["a.txt:1", "a.txt:2"]);
    expect(places((await engine().content({ pattern: "wörd" })).hits)).toEqual(["a.txt:3"]);
    expect(places((await engine().content({ pattern: "word", ignore_case: false })).hits)).toEqual(["a.txt:2"]);
  });

  it("shows context and tells no line twice", async () => {
    write("a.txt", "1\n2\nhit 3\n4\nhit 5\n6\n7\n8\n9\nhit 10\n");
    const { hits } = await engine().content({ pattern: "hit", context_lines: 2 });
    expect(hits).toEqual([
      { path: "a.txt", line: 3, start_line: 1, snippet: "1\n2\nhit 3\n4" },
      { path: "a.txt", line: 5, snippet: "hit 5\n6\n7" },
      { path: "a.txt", line: 10, start_line: 8, snippet: "8\n9\nhit 10" },
    ]);
  });

  it("filters by glob on the name or the path", async () => {
    for (const path of ["a.ts", "b.js", "src/c.ts", "src/deep/d.ts", "src/deep/e.test.ts"]) write(path, "needle\n");
    const found = async (file_glob: string, at = ".") =>
      paths((await engine().content({ pattern: "needle", file_glob, in: at })).hits);
    expect(await found("*.ts")).toEqual(["a.ts", "src/c.ts", "src/deep/d.ts", "src/deep/e.test.ts"]);
    expect(await found("src/*.ts")).toEqual(["src/c.ts"]);
    expect(await found("src/**/*.ts")).toEqual(["src/c.ts", "src/deep/d.ts", "src/deep/e.test.ts"]);
    expect(await found("**/deep/*")).toEqual(["src/deep/d.ts", "src/deep/e.test.ts"]);
    expect(await found("*.{js,test.ts}")).toEqual(["b.js", "src/deep/e.test.ts"]);
    expect(await found("!*.ts")).toEqual(["b.js"]);
    expect(await found("deep/*.ts", "src")).toEqual(["src/deep/d.ts", "src/deep/e.test.ts"]);
    expect(await found("*.TS")).toEqual([]);
  });

  it("finds in one file when the root is a file", async () => {
    write("a.txt", "needle\n");
    write("b.txt", "x\nneedle\n");
    expect(places((await engine().content({ pattern: "needle", in: "b.txt" })).hits)).toEqual(["b.txt:2"]);
  });

  it("leaves out what is ignored, even when a glob names it", async () => {
    write(".gitignore", "node_modules/\n*.log\n!keep.log\n");
    for (const path of ["node_modules/x.js", "a.log", "keep.log", "src/a.js", "src/gen/b.js", "dist/c.js"])
      write(path, "needle\n");
    expect(paths((await engine().content({ pattern: "needle" })).hits)).toEqual([
      "dist/c.js",
      "keep.log",
      "src/a.js",
      "src/gen/b.js",
    ]);
    expect(paths((await engine().content({ pattern: "needle", file_glob: "*.log" })).hits)).toEqual(["keep.log"]);
    expect(paths((await engine().content({ pattern: "needle", file_glob: "**" })).hits)).not.toContain(
      "node_modules/x.js",
    );
    const strict = engine({ ignore: ["/dist", "src/gen"] });
    expect(paths((await strict.content({ pattern: "needle" })).hits)).toEqual(["keep.log", "src/a.js"]);
    expect(paths((await strict.content({ pattern: "needle", in: "src" })).hits)).toEqual(["src/a.js"]);
    expect(paths((await strict.files({ pattern: ".js", in: "src" })).hits)).toEqual(["src/a.js"]);
  });

  it.each([true, false])(
    "honours the ignore files above the folder that is searched (git repository: %s)",
    async (isGit) => {
      if (isGit) mkdirSync(join(dir, ".git"));
      write(".gitignore", "*.gen.js\n/src/out/\nkeep.*\n");
      write("src/.gitignore", "!keep.me\n");
      for (const path of ["src/in/a.js", "src/in/b.gen.js", "src/out/c.js", "src/in/keep.me"]) write(path, "needle\n");
      for (const at of [".", "src", "src/in"])
        expect(paths((await engine().content({ pattern: "needle", in: at })).hits)).toEqual([
          "src/in/a.js",
          "src/in/keep.me",
        ]);
      expect(paths((await engine().files({ pattern: ".js", in: "src/in" })).hits)).toEqual(["src/in/a.js"]);
    },
  );

  it.each([true, false])(
    "knows no ignore file above the root, or above the repository (git repository: %s)",
    async (isGit) => {
      write(".gitignore", "*\n");
      write("project/sub/a.txt", "needle\n");
      if (isGit) mkdirSync(join(dir, "project", ".git"));
      const roots = createRoots({ roots: [join(dir, "project")] });
      const search = createSearch(searchOptions.parse({}), { roots, state_dir: join(dir, "state"), path: "" });
      for (const at of [".", "sub"]) {
        const found = await search.files({ root: roots.mint(at, "read"), pattern: "a.txt", max_results: 5 }, never);
        expect(paths(found.hits)).toEqual(["sub/a.txt"]);
      }
    },
  );

  it.each([true, false])("searches an ignored folder that is asked for by name (git repository: %s)", async (isGit) => {
    if (isGit) mkdirSync(join(dir, ".git"));
    write(".gitignore", "node_modules/\n*.map\n");
    for (const path of ["node_modules/lib/a.js", "node_modules/lib/a.map"]) write(path, "needle\n");
    const at = "node_modules/lib";
    expect((await engine().content({ pattern: "needle" })).total_hits).toBe(0);
    expect(paths((await engine().content({ pattern: "needle", in: at })).hits)).toEqual(["node_modules/lib/a.js"]);
    expect(paths((await engine().files({ pattern: "a.", in: at })).hits)).toEqual(["node_modules/lib/a.js"]);
  });

  it("looks at hidden files only when configured, and never into .git or the state folder", async () => {
    for (const path of [".github/ci.yml", ".git/config", ".llmc/handles.db", ".env.local", "a.txt"])
      write(path, "needle\n");
    expect(paths((await engine().content({ pattern: "needle" })).hits)).toEqual(["a.txt"]);
    const open = engine({ hidden: true });
    expect(paths((await open.content({ pattern: "needle" })).hits)).toEqual([".env.local", ".github/ci.yml", "a.txt"]);
    expect(paths((await open.files({ pattern: "" })).hits)).toEqual([".env.local", ".github/ci.yml", "a.txt"]);
  });

  it("cuts a long line around the match and says so", async () => {
    write("bundle.min.js", `${"a".repeat(2_000_000)}NEEDLE${"b".repeat(1_000_000)}\nshort NEEDLE\n`);
    const { hits } = await engine().content({ pattern: "NEEDLE", context_lines: 1 });
    expect(hits).toHaveLength(2);
    const [long] = hits[0]!.snippet.split("\n");
    expect(long!.length).toBeLessThanOrEqual(302);
    expect(long).toMatch(/^…a+NEEDLEb+…$/);
    expect(hits[1]!.snippet).toBe("short NEEDLE");
  });

  it("keeps characters whole where it cuts", async () => {
    write("a.txt", `${"🎉é".repeat(500)}NEEDLE${"🎉é".repeat(500)}`);
    const { hits } = await engine().content({ pattern: "NEEDLE" });
    expect(hits[0]!.snippet).toContain("NEEDLE");
    expect(hits[0]!.snippet.isWellFormed()).toBe(true);
    expect(hits[0]!.snippet.replaceAll("\ufffd", "").length).toBeGreaterThan(290);
  });

  it("reads CRLF, a byte order mark, UTF-16 and broken UTF-8", async () => {
    write("bom.txt", "\ufeffneedle\nx needle\n");
    write("crlf.txt", "x\r\nneedle\r\n");
    write("utf16.txt", Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from("x\nneedle é\n", "utf16le")]));
    write("broken.txt", Buffer.concat([Buffer.from([0xff, 0x20]), Buffer.from("needle\n")]));
    expect((await engine().content({ pattern: "needle" })).hits).toEqual([
      { path: "bom.txt", line: 1, snippet: "needle" },
      { path: "bom.txt", line: 2, snippet: "x needle" },
      { path: "broken.txt", line: 1, snippet: "\ufffd needle" },
      { path: "crlf.txt", line: 2, snippet: "needle" },
      { path: "utf16.txt", line: 2, snippet: "needle é" },
    ]);
  });

  it("passes over binary files, also those that turn binary late", async () => {
    write("early.bin", "needle\n\0needle\n");
    write("late.bin", `needle\n${"x\n".repeat(200_000)}\0\nneedle\n`);
    write("text.txt", "needle\n");
    const { hits } = await engine().content({ pattern: "needle" });
    expect(places(hits).filter((place) => !place.startsWith("late"))).toEqual(["text.txt:1"]);
    for (const hit of hits) expect(hit.snippet).toBe("needle");
  });

  it("keeps odd file names apart from what it prints", async () => {
    const odd = ["new\nline.txt", "colon:1:2:x.txt", "-e.txt", "tab\t.txt", "a: binary file matches.txt"];
    for (const name of odd) write(name, "needle\n");
    expect(new Set(paths((await engine().content({ pattern: "needle" })).hits))).toEqual(new Set(odd));
    expect(new Set(paths((await engine().files({ pattern: ".txt" })).hits))).toEqual(new Set(odd));
  });

  it("says where a regex is wrong, and never that there are no hits", async () => {
    write("a.txt", "x\n");
    for (const pattern of ["foo(", "[z-a]", "a{2,1}", "(?=x)", "(a)\\1", "a\nb", "\\p{Nonsense}", "(?P<n"]) {
      const fault = await engine()
        .content({ pattern })
        .catch((error) => error);
      expect(fault, pattern).toBeInstanceOf(Fault);
      expect(fault.code).toBe("invalid_args");
      expect(fault.message).toContain("not valid");
    }
    for (const pattern of ["x\0", "\ud800", "x\udc00"])
      await expect(engine().content({ pattern })).rejects.toMatchObject({ code: "invalid_args" });
    const fault = await engine()
      .content({ pattern: "foo(bar" })
      .catch((error) => error);
    expect(fault.message).toMatch(/foo\(bar[\s\S]*\^/);
    expect(
      await engine()
        .content({ pattern: "a\0b" })
        .catch((error) => error.code),
    ).toBe("invalid_args");
  });

  it("is found by an empty search as well as by none", async () => {
    write("a.txt", "x\n");
    expect(await engine().content({ pattern: "absent" })).toMatchObject({ hits: [], total_hits: 0, truncated: false });
    expect(await engine().content({ pattern: "" })).toMatchObject({ total_hits: 1 });
  });

  it("refuses a root that is missing or no folder", async () => {
    write("a.txt", "x\n");
    spawnSync("mkfifo", [join(dir, "fifo")]);
    expect(
      await engine()
        .content({ pattern: "x", in: "none" })
        .catch((error) => error.code),
    ).toBe("file_not_found");
    expect(
      await engine()
        .content({ pattern: "x", in: "fifo" })
        .catch((error) => error.code),
    ).toBe("path_denied");
    expect(
      await engine()
        .files({ pattern: "x", in: "a.txt" })
        .catch((error) => error.code),
    ).toBe("not_a_directory");
  });
});

describe("many hits", () => {
  it("come as the first page, an exact count, and all of them behind", async () => {
    for (let file = 0; file < 30; file++) write(`d${file % 3}/f${file}.txt`, "needle\n".repeat(20));
    const result = await engine().content({ pattern: "needle", max_results: 25 });
    expect(result).toMatchObject({ total_hits: 600, total_hits_is_lower_bound: false, truncated: true });
    expect(result.hits).toHaveLength(25);
    const all = await whole(result.everything());
    expect(all).toHaveLength(600);
    expect(all.slice(0, 25)).toEqual(result.hits);
  });

  it("beyond the limit give a lower bound and still the first page in order", async () => {
    for (let file = 0; file < 40; file++) write(`f${String(file).padStart(2, "0")}.txt`, "needle\n".repeat(50));
    const limited = await engine({ count_limit: 300 }).content({ pattern: "needle", max_results: 60 });
    const full = await engine().content({ pattern: "needle", max_results: 60 });
    expect(limited.hits).toEqual(full.hits);
    expect(limited).toMatchObject({ total_hits_is_lower_bound: true, truncated: true });
    expect(limited.total_hits).toBeGreaterThanOrEqual(300);
    const all = (await whole(limited.everything())) as { path: string; line: number }[];
    expect(all).toHaveLength(limited.total_hits);
    expect(all).toEqual(all.toSorted((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : a.line - b.line)));
    expect(new Set(places(all)).size).toBe(all.length);
  });

  it("in one file of 100,000 are bounded and in order", async () => {
    write("huge.txt", "needle\n".repeat(100_000));
    const { hits, ...rest } = await engine().content({ pattern: "needle", max_results: 1000 });
    expect(hits.map((hit) => hit.line)).toEqual(Array.from({ length: 1000 }, (_, index) => index + 1));
    expect(rest).toMatchObject({ total_hits: 10_000, total_hits_is_lower_bound: true });
  });

  it("of long lines are bounded by bytes too", async () => {
    write("wide.txt", `${"needle".padEnd(280, ".")}\n`.repeat(60_000));
    const before = process.memoryUsage().rss;
    const result = await engine({ count_limit: 1_000_000 }).content({
      pattern: "needle",
      context_lines: 3,
      max_results: 10,
    });
    expect(result.total_hits_is_lower_bound).toBe(true);
    expect(result.hits).toHaveLength(10);
    expect(process.memoryUsage().rss - before).toBeLessThan(100 * 1024 ** 2);
  });
});

describe("a search for names", () => {
  beforeEach(() => {
    for (const path of [
      "README.md",
      "src/Client.ts",
      "src/client.test.ts",
      "src/[id].tsx",
      "lib/deep/client.py",
      "a.txt",
    ])
      write(path, "");
  });

  it("takes a part of the path in any case", async () => {
    expect(paths((await engine().files({ pattern: "CLIENT" })).hits)).toEqual([
      "lib/deep/client.py",
      "src/Client.ts",
      "src/client.test.ts",
    ]);
    expect(paths((await engine().files({ pattern: "src/c" })).hits)).toEqual(["src/Client.ts", "src/client.test.ts"]);
    expect(paths((await engine().files({ pattern: "client", in: "src" })).hits)).toEqual([
      "src/Client.ts",
      "src/client.test.ts",
    ]);
  });

  it("takes a glob", async () => {
    expect(paths((await engine().files({ pattern: "*.md" })).hits)).toEqual(["README.md"]);
    expect(paths((await engine().files({ pattern: "**/client*" })).hits)).toEqual([
      "lib/deep/client.py",
      "src/Client.ts",
      "src/client.test.ts",
    ]);
    expect(paths((await engine().files({ pattern: "[id].tsx" })).hits)).toEqual(["src/[id].tsx"]);
    expect(paths((await engine().files({ pattern: "c", file_glob: "*.ts" })).hits)).toEqual([
      "src/Client.ts",
      "src/client.test.ts",
    ]);
  });

  it("counts exactly, and pages in order beyond the limit", async () => {
    for (let file = 0; file < 500; file++) write(`many/${String(file).padStart(3, "0")}.dat`, "");
    const exact = await engine().files({ pattern: ".dat", max_results: 10 });
    expect(exact).toMatchObject({ total_hits: 500, truncated: true, total_hits_is_lower_bound: false });
    const limited = await engine({ count_limit: 100 }).files({ pattern: ".dat", max_results: 10 });
    expect(limited.hits).toEqual(exact.hits);
    expect(limited.total_hits_is_lower_bound).toBe(true);
    expect(await whole(exact.everything())).toHaveLength(500);
  });
});

describe("without the packaged binary", () => {
  const nowhere = { command: "/nonexistent/rg", prefix: [], slow: false };
  const wasm = findRipgrep("").find((one) => one.slow);

  function withEngines(...ripgrep: Ripgrep[]) {
    const roots = createRoots({ roots: [dir] });
    const search = createSearch(searchOptions.parse({}), { roots, state_dir: dir, path: "", ripgrep });
    const query = {
      root: roots.mint(".", "read"),
      literal: false,
      ignore_case: true,
      context_lines: 0,
      max_results: 10,
    };
    return (pattern: string) => search.content({ ...query, pattern }, never);
  }

  it("the next one serves", async () => {
    write("a.txt", "needle\n");
    const result = await withEngines(nowhere, findRipgrep("")[0]!)("needle");
    expect(result).toMatchObject({ total_hits: 1, warning: undefined });
  });

  it.skipIf(!wasm)("the wasm build serves, and says so", async () => {
    write("a.txt", "x\nneedle\n");
    const search = withEngines(nowhere, wasm!);
    expect(await search("needle")).toMatchObject({
      hits: [{ path: "a.txt", line: 2, snippet: "needle" }],
      warning: expect.stringContaining("wasm"),
    });
    expect(await search("foo(").catch((error) => error.code)).toBe("invalid_args");
  });

  it("and without any, it says what to install", async () => {
    const fault = await withEngines(nowhere)("needle").catch((error) => error);
    expect(fault).toMatchObject({ code: "internal_error", hint: expect.stringContaining("ripgrep") });
  });
});

describe("trouble on the way", () => {
  it("does not stop a search: cyclic links, files that vanish", async () => {
    write("a/needle.txt", "needle\n");
    symlinkSync("..", join(dir, "a", "up"));
    symlinkSync("/etc", join(dir, "a", "etc"));
    symlinkSync("nowhere", join(dir, "a", "dangling"));
    expect(paths((await engine().content({ pattern: "needle" })).hits)).toEqual(["a/needle.txt"]);
    for (let round = 0; round < 5; round++) {
      for (let file = 0; file < 300; file++) write(`v/${file}.txt`, "needle\n");
      const searching = engine().content({ pattern: "needle", max_results: 1000 });
      for (let file = 0; file < 300; file += 2) rmSync(join(dir, "v", `${file}.txt`));
      const { hits } = await searching;
      expect(hits.length).toBeGreaterThanOrEqual(151);
    }
  });

  it.skipIf(process.getuid?.() === 0)("tells how much could not be read", async () => {
    write("open.txt", "needle\n");
    write("shut/x.txt", "needle\n");
    chmodSync(join(dir, "shut"), 0);
    const result = await engine().content({ pattern: "needle" });
    chmodSync(join(dir, "shut"), 0o755);
    expect(paths(result.hits)).toEqual(["open.txt"]);
    expect(result.warning).toContain("could not be read");
  });

  it("is stopped by its signal, and leaves no process", async () => {
    write("a.txt", "needle\n");
    const gone = AbortSignal.abort(new Fault("timeout", "Too long."));
    expect(
      await engine()
        .content({ pattern: "needle" }, gone)
        .catch((error) => error.message),
    ).toBe("Too long.");
    for (let file = 0; file < 2000; file++) write(`m/${file}.txt`, "x needle\n".repeat(100));
    const control = new AbortController();
    const searching = engine({ count_limit: 1_000_000 }).content({ pattern: "needle" }, control.signal);
    setImmediate(() => control.abort());
    expect(await searching.catch((error) => error.code)).toBe("timeout");
    expect(children()).toEqual([]);
  });

  it("leaves no descriptor open", async () => {
    for (let file = 0; file < 50; file++) write(`${file}.txt`, "needle\n");
    await engine().content({ pattern: "needle" });
    const before = readdirSync("/proc/self/fd").length;
    await engine().content({ pattern: "needle", max_results: 3 });
    await engine({ count_limit: 5 }).content({ pattern: "needle", max_results: 3 });
    await engine().files({ pattern: "txt" });
    await engine()
      .content({ pattern: "needle(" })
      .catch(() => {});
    expect(readdirSync("/proc/self/fd").length).toBe(before);
  });
});

function children(): string[] {
  const { stdout } = spawnSync("ps", ["--ppid", String(process.pid), "-o", "comm="], { encoding: "utf8" });
  return stdout.split("\n").filter((name) => name.trim() === "rg");
}
