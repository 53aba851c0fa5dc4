import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { openDb } from "../../src/base/db.ts";
import { openTestRag, SIGNAL } from "../../src/engines/rag/test-rag.ts";
import { sharedFile } from "../../src/engines/rag/worktree.ts";
import { startEmbeddings } from "../harness/embeddings.ts";
import { temp } from "../harness/temp.ts";

const FILES = {
  "src/a.ts": "export function alpha() {\n  return beta();\n}\n",
  "src/b.ts": "export function beta() {}\n",
  "docs/a.md": "# Alpha\n\nAbout alpha.\n",
};

interface Trees extends Disposable {
  readonly main: string;
  readonly linked: string;
  write(root: string, path: string, text: string): void;
}

/** A repository with two working trees. */
function twoTrees(): Trees {
  const folder = temp();
  const base = realpathSync(folder.path);
  const [main, linked] = [join(base, "main"), join(base, "linked")];
  const write = (root: string, path: string, text: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  for (const [path, text] of Object.entries(FILES)) write(main, path, text);
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@t", ...args], { cwd: main, stdio: "pipe" });
  git("init", "-q");
  git("add", ".");
  git("commit", "-qm", "one");
  git("worktree", "add", "-q", linked);
  for (const root of [base, main, linked, join(main, ".git")]) chmodSync(root, 0o755);
  return { main, linked, write, [Symbol.dispose]: () => folder[Symbol.dispose]() };
}

const build = async (root: string, rag: Record<string, unknown> = {}) => {
  const bed = openTestRag({ root, rag });
  return { bed, at: await bed.rag.build({}, SIGNAL) };
};

describe("working trees of one repository", () => {
  it("do not parse what another of them has parsed", async () => {
    using trees = twoTrees();
    const first = await build(trees.main);
    expect(first.at).toMatchObject({ total: 3, shared: 0 });
    const second = await build(trees.linked);
    expect(second.at).toMatchObject({ total: 3, shared: 3 });
    const places = async (one: typeof first) =>
      (await one.bed.rag.whereUsed({ symbol: "beta", limit: 5 }, SIGNAL)).items.map(
        ({ path, line }) => `${path}:${line}`,
      );
    expect(await places(second)).toEqual(["src/a.ts:2"]);
    expect(await second.bed.find("alpha")).toEqual(await first.bed.find("alpha"));
    await first.bed[Symbol.asyncDispose]();
    await second.bed[Symbol.asyncDispose]();
  });

  it("parse what is other in one of them, and what lies elsewhere", async () => {
    using trees = twoTrees();
    await (await build(trees.main)).bed[Symbol.asyncDispose]();
    trees.write(trees.linked, "src/b.ts", "export function beta() {}\nexport function gamma() {\n  beta();\n}\n");
    trees.write(trees.linked, "src/c.ts", FILES["src/a.ts"]);
    const { bed, at } = await build(trees.linked);
    expect(at).toMatchObject({ total: 4, shared: 2 });
    expect((await bed.find("gamma"))[0]).toBe("src/b.ts#L1-L4");
    await bed[Symbol.asyncDispose]();
  });

  it("do not make the same vectors twice", async () => {
    using trees = twoTrees();
    await using server = await startEmbeddings();
    const rag = { embeddings: { provider: "ollama", model: "m", base_url: server.url } };
    await (await build(trees.main, rag)).bed[Symbol.asyncDispose]();
    const sent = server.asked.length;
    expect(sent).toBeGreaterThan(0);
    const { bed } = await build(trees.linked, rag);
    expect((await bed.rag.stats()).vectors).toBe(3);
    expect(server.asked.length).toBe(sent);
    await bed[Symbol.asyncDispose]();
  });

  it("take a damaged entry for none", async () => {
    using trees = twoTrees();
    await (await build(trees.main)).bed[Symbol.asyncDispose]();
    const db = openDb(join(trees.main, ".llmc/shared.db"), { migrations: ["", ""].slice(1) });
    db.run("UPDATE prepared SET file = ?", new Uint8Array([1, 2, 3]));
    db.close();
    const { bed, at } = await build(trees.linked);
    expect(at).toMatchObject({ total: 3, shared: 0 });
    expect((await bed.find("beta"))[0]).toMatch(/src\/b.ts/);
    await bed[Symbol.asyncDispose]();
  });
});

describe("what they share", () => {
  it("lies with the main tree, and is nothing where there is one tree, or the state lies elsewhere", () => {
    using trees = twoTrees();
    const file = join(trees.main, ".llmc/shared.db");
    expect(sharedFile(trees.linked, join(trees.linked, ".llmc"))).toBe(file);
    expect(sharedFile(trees.main, join(trees.main, ".llmc"))).toBe(file);
    expect(sharedFile(trees.linked, join(trees.main, "elsewhere"))).toBeUndefined();
    using alone = temp();
    const root = realpathSync(alone.path);
    execFileSync("git", ["init", "-q"], { cwd: root });
    expect(sharedFile(root, join(root, ".llmc"))).toBeUndefined();
    expect(existsSync(join(root, ".llmc"))).toBe(false);
  });

  it("is not looked for where a repository's .git file leads to a stranger", () => {
    using trees = twoTrees();
    using other = temp();
    const root = realpathSync(other.path);
    const state = join(root, ".llmc");
    writeFileSync(join(root, ".git"), `gitdir: ${join(trees.main, ".git/worktrees/linked")}\n`);
    expect(sharedFile(root, state)).toBeUndefined();
    writeFileSync(join(root, ".git"), "gitdir: /etc\n");
    expect(sharedFile(root, state)).toBeUndefined();
  });

  it("is left alone where others may write, or where it is a link", () => {
    using trees = twoTrees();
    const state = join(trees.linked, ".llmc");
    mkdirSync(join(trees.main, ".llmc"), { mode: 0o700 });
    chmodSync(join(trees.main, ".llmc"), 0o777);
    expect(sharedFile(trees.linked, state)).toBeUndefined();
    chmodSync(join(trees.main, ".llmc"), 0o700);
    symlinkSync("/etc/hostname", join(trees.main, ".llmc/shared.db"));
    expect(sharedFile(trees.linked, state)).toBeUndefined();
  });
});
