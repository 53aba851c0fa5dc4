import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createRoots } from "../../src/base/path/index.ts";
import { createSearch, searchOptions } from "../../src/engines/search/index.ts";
import { createBed } from "../harness/bed.ts";
import { temp } from "../harness/temp.ts";

interface Answer {
  hits: { path: string; snippet?: string }[];
  total_hits: number;
}

const CANARY = "canary-7f3a-outside";

describe("a search never leaves the root", () => {
  it("by a link to a file or a folder outside", async () => {
    using outside = temp();
    writeFileSync(join(outside.path, "secret.txt"), `${CANARY}\n`);
    await using bed = createBed({ files: { "in.txt": "nothing\n" } });
    symlinkSync(join(outside.path, "secret.txt"), join(bed.root, "file-link.txt"));
    symlinkSync(outside.path, join(bed.root, "folder-link"));
    const content = await bed.payload<Answer>("linux_search_content", { root: ".", pattern: CANARY });
    expect(content.hits).toEqual([]);
    const names = await bed.payload<Answer>("linux_search_files", { root: ".", pattern: "secret" });
    expect(names.hits).toEqual([]);
    for (const root of ["folder-link", "file-link.txt", "..", "/etc", outside.path, `${bed.root}-sibling`])
      for (const tool of ["linux_search_content", "linux_search_files"]) {
        const answer = JSON.parse(await bed.text(tool, { root, pattern: "a" }));
        expect(answer.meta?.error_code, `${tool} ${root}`).toBe("INVALID_PATH");
      }
  });

  it("while another process exchanges files and folders with links that lead out", async () => {
    using outside = temp();
    writeFileSync(join(outside.path, "secret.txt"), `${CANARY} marker outside\n`);
    await using bed = createBed({ files: { "d/quiet.txt": "harmless marker inside\n" } });
    const arena = join(bed.root, "d");
    const swapper = spawn(process.execPath, [join(import.meta.dirname, "search-swapper.ts"), arena, outside.path], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    try {
      await once(swapper.stdout, "data");
      const end = Date.now() + 4000;
      let answered = 0;
      let found = 0;
      while (Date.now() < end) {
        const content = await bed.payload<Answer>("linux_search_content", {
          root: ".",
          pattern: "marker",
          context_lines: 1,
        });
        const direct = await bed
          .payload<Answer>("linux_search_content", { root: "d/victim", pattern: "marker" })
          .catch(() => undefined);
        const names = await bed.payload<Answer>("linux_search_files", { root: ".", pattern: "secret" });
        for (const hit of [...content.hits, ...(direct?.hits ?? [])]) expect(hit.snippet).not.toContain(CANARY);
        for (const hit of names.hits) expect(hit.path).toMatch(/^d\/(real|victim)\/secret\.txt$/);
        expect(content.hits.map((hit) => hit.path)).toContain("d/quiet.txt");
        answered++;
        found += content.total_hits;
      }
      expect(answered).toBeGreaterThan(20);
      expect(found).toBeGreaterThan(answered);
    } finally {
      swapper.kill("SIGKILL");
      await once(swapper, "close");
    }
  });

  it("into what is denied for reading, hidden files searched or not", async () => {
    await using bed = createBed({
      files: {
        ".llmc/notes.txt": `${CANARY}\n`,
        "vault/key.txt": `${CANARY}\n`,
        "open.txt": `${CANARY}\n`,
        "Vault2/x": "",
      },
      config: '[mcp.search]\nhidden = true\n[mcp.tools]\ndenied_paths = ["rw:.llmc", "rw:vault"]\n',
    });
    const content = await bed.payload<Answer>("linux_search_content", { root: ".", pattern: CANARY });
    expect(content.hits.map((hit) => hit.path)).toEqual(["open.txt"]);
    expect(content.total_hits).toBe(1);
    const names = await bed.payload<Answer>("linux_search_files", { root: ".", pattern: "" });
    for (const hit of names.hits) expect(hit.path).not.toMatch(/^(\.llmc|vault)\//);
    for (const root of [".llmc", "vault", "vault/key.txt"])
      expect((await bed.call("linux_search_content", { root, pattern: CANARY })).ok, root).toBe(false);
  });
});

describe("nothing that is asked for becomes a flag or a program", () => {
  it("not the pattern, the glob, the root, a file's name, nor a config file of ripgrep", async () => {
    using outside = temp();
    const marker = join(outside.path, "marker");
    const payload = join(outside.path, "payload");
    writeFileSync(payload, `#!/bin/sh\ntouch ${marker}\ncat "$1"\n`);
    chmodSync(payload, 0o755);
    writeFileSync(join(outside.path, "rgrc"), `--pre=${payload}\n`);
    process.env["RIPGREP_CONFIG_PATH"] = join(outside.path, "rgrc");
    try {
      await using bed = createBed({
        files: { "a.txt": "x\n", [`--pre=${payload.replaceAll("/", "_")}`]: "x\n", "-z": "x\n" },
      });
      for (const text of [
        `--pre=${payload}`,
        `--hostname-bin=${payload}`,
        "-f/etc/passwd",
        "--files",
        "-z",
        "--",
        "-",
        `-e\n--pre=${payload}`,
      ])
        for (const args of [
          { pattern: text },
          { pattern: "x", file_glob: text },
          { pattern: "x", root: text },
          { pattern: text, literal: true },
        ]) {
          await bed.call("linux_search_content", { root: ".", ...args });
          await bed.call("linux_search_files", { root: ".", ...args, literal: undefined });
        }
    } finally {
      delete process.env["RIPGREP_CONFIG_PATH"];
    }
    expect(existsSync(marker)).toBe(false);
  });

  it("and the program sees nothing of the server's environment", async () => {
    using folder = temp();
    const spy = join(folder.path, "spy");
    mkdirSync(join(folder.path, "root"));
    writeFileSync(spy, `#!/bin/sh\nenv > ${folder.path}/seen\n`);
    chmodSync(spy, 0o755);
    process.env["LLMC_CANARY"] = CANARY;
    try {
      const roots = createRoots({ roots: [join(folder.path, "root")] });
      const search = createSearch(searchOptions.parse({}), {
        roots,
        state_dir: folder.path,
        path: "",
        ripgrep: [{ command: spy, prefix: [], slow: false }],
      });
      await search.files({ root: roots.mint(".", "read"), pattern: "x", max_results: 1 }, new AbortController().signal);
    } finally {
      delete process.env["LLMC_CANARY"];
    }
    const seen = readFileSync(join(folder.path, "seen"), "utf8");
    expect(seen).toContain("LC_ALL");
    expect(seen).not.toMatch(/CANARY|HOME|TOKEN|NODE_/);
  });
});

describe("what is meant to be slow is not", () => {
  it("a regex of nested repetitions, while other calls answer", async () => {
    await using bed = createBed({ files: { "a.txt": `${"a".repeat(65_536)}!\n`.repeat(20), "b.txt": "b\n" } });
    const slow = bed.call("linux_search_content", { root: ".", pattern: "(a+)+$" });
    expect((await bed.call("stat", { path: "b.txt" })).ok).toBe(true);
    expect((await slow).ok).toBe(true);
    const huge = await bed.call("linux_search_content", { root: ".", pattern: "(a{1000}){1000}{1000}" });
    expect(huge.ok).toBe(false);
  });

  it("globs of many stars and nested braces", async () => {
    const deep = `${"d/".repeat(60)}file.txt`;
    await using bed = createBed({ files: { [deep]: "x\n", [`${"a".repeat(200)}.txt`]: "x\n" } });
    const globs = [
      `${"**/".repeat(50)}nothing`,
      `${"**/*/".repeat(40)}x`,
      "*a".repeat(100),
      "{".repeat(200),
      `${"{a,b}".repeat(100)}`,
      `${"{a,".repeat(60)}b${"}".repeat(60)}`,
    ];
    for (const glob of globs) {
      const start = performance.now();
      for (const args of [{ pattern: glob }, { pattern: "x", file_glob: glob }]) {
        const reply = await bed.call("linux_search_files", { root: ".", ...args });
        if (!reply.ok) expect(reply.fault.code).toBe("invalid_args");
      }
      expect(performance.now() - start).toBeLessThan(5000);
    }
    const all = await bed.payload<Answer>("linux_search_files", {
      root: ".",
      pattern: "file",
      file_glob: `${"**/".repeat(50)}file.txt`,
    });
    expect(all.hits.map((hit) => hit.path)).toEqual([deep]);
  });
});
