import { execFileSync, fork } from "node:child_process";
import { appendFileSync, mkdirSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openTestRag, SIGNAL } from "./test-rag.ts";

const FILES = {
  "src/retry.ts":
    "/** How long to wait before another attempt. */\nexport function retryBackoff(attempt: number): number {\n  return 100 * 2 ** attempt;\n}\n",
  "src/http/client.ts":
    "import { retryBackoff } from '../retry.ts';\n\nexport class HttpClient {\n  send(url: string) {\n    return fetch(url);\n  }\n}\n",
  "src/retry.test.ts":
    "import { retryBackoff } from './retry.ts';\n\nit('waits longer with each attempt', () => { retryBackoff(1); });\n",
  "docs/retry.md": "# Retry\n\nHow retry backoff is decided.\n",
};

describe("a search", () => {
  it("finds a definition by words of a question, before its tests and documents", async () => {
    await using bed = openTestRag({ files: FILES });
    expect((await bed.find("where is retry backoff decided?"))[0]).toBe("src/retry.ts#L1-L4");
  });

  it("gives the symbol, a score between 0 and 1, and says that it is whole and fresh", async () => {
    await using bed = openTestRag({ files: FILES });
    const answer = await bed.rag.search({ q: "HttpClient send", k: 1 }, SIGNAL);
    expect(answer).toMatchObject({ provenance: true, stale: false, coverage: 1 });
    expect(answer.snippets[0]).toMatchObject({ symbol: "HttpClient" });
    expect(answer.snippets[0]!.score).toBeGreaterThan(0);
    expect(answer.snippets[0]!.score).toBeLessThanOrEqual(1);
  });

  it("keeps to documents when asked to", async () => {
    await using bed = openTestRag({ files: FILES });
    expect(await bed.find("retry backoff", { scope: "docs" })).toEqual(["docs/retry.md#L1-L3"]);
  });

  it("gives no more snippets than asked for, nor than the operator allows", async () => {
    const files = Object.fromEntries(
      Array.from({ length: 9 }, (_, n) => [`f${n}.ts`, `export const needle${n} = 'needle';\n`]),
    );
    await using bed = openTestRag({ files, search: { top_k: 4 } });
    expect(await bed.find("needle", { k: 2 })).toHaveLength(2);
    expect(await bed.find("needle", { k: 10 })).toHaveLength(4);
  });

  it("takes a long text as a question", async () => {
    await using bed = openTestRag({ files: FILES });
    const issue = `We see timeouts in production.\n${"Nothing to do with it, lorem ipsum dolor. ".repeat(300)}\nThe backoff of a retry seems wrong: \`retryBackoff\`.`;
    expect((await bed.find(issue))[0]).toBe("src/retry.ts#L1-L4");
  });

  it("leaves out what .gitignore, .ragignore, the operator and common sense leave out", async () => {
    const needle = "export const needle = 1;\n";
    await using bed = openTestRag({
      files: {
        ".gitignore": "ignored/\n*.gen.ts\n",
        ".ragignore": "quiet.ts\n",
        "sub/.gitignore": "!kept.gen.ts\n",
        "ignored/a.ts": needle,
        "x.gen.ts": needle,
        "quiet.ts": needle,
        "sub/kept.gen.ts": needle,
        "node_modules/pkg/index.ts": needle,
        "excluded/a.ts": needle,
        ".env": "needle=1\n",
        "app.min.js": needle,
        "yarn.lock": "needle\n",
        "good.ts": needle,
      },
      rag: { exclude: ["excluded"] },
    });
    expect((await bed.find("needle")).sort()).toEqual(["good.ts#L1-L1", "sub/kept.gen.ts#L1-L1"]);
  });

  it("counts what it skips", async () => {
    await using bed = openTestRag({
      files: { "big.ts": "x\n".repeat(1000), "bin.ts": new Uint8Array([0, 1, 2]), "a.ts": "const a = 1;\n" },
      rag: { max_file_bytes: 1024 },
    });
    await bed.find("a");
    expect(await bed.rag.stats()).toMatchObject({ phase: "ready", files: 1, skipped: { "too large": 1, binary: 1 } });
  });
});

describe("freshness", () => {
  it("quotes a file as it is now, though it changed after it was indexed", async () => {
    await using bed = openTestRag({ files: FILES });
    await bed.find("retry backoff");
    bed.write("src/retry.ts", "// moved down\n\n\nexport function retryBackoff() {\n  return 7;\n}\n");
    const { snippets } = await bed.rag.search({ q: "retryBackoff", k: 1 }, SIGNAL);
    expect(snippets[0]!.text).toContain("return 7");
  });

  it("does not quote a file that is gone", async () => {
    await using bed = openTestRag({ files: FILES });
    await bed.find("retry backoff");
    rmSync(join(bed.root, "src/retry.ts"));
    expect((await bed.find("retry backoff")).join()).not.toContain("src/retry.ts");
  });

  it("finds a new file and a renamed folder", async () => {
    await using bed = openTestRag({ files: FILES });
    await bed.find("retry");
    bed.write("src/fresh.ts", "export function brandNewThing() {}\n");
    renameSync(join(bed.root, "src/http"), join(bed.root, "src/net"));
    await bed.rag.build({}, SIGNAL);
    expect((await bed.find("brandNewThing"))[0]).toBe("src/fresh.ts#L1-L1");
    expect((await bed.find("HttpClient send"))[0]).toMatch(/^src\/net\/client.ts/);
  });

  it("sees a saved file by itself when it watches, also in a new folder", async () => {
    await using bed = openTestRag({ files: FILES, rag: { watch: true } });
    await bed.rag.build({}, SIGNAL);
    bed.write("src/retry.ts", "export function renamedBackoff() {}\n");
    bed.write("src/deep/er/new.ts", "export function watchedThing() {}\n");
    await expect.poll(() => bed.find("renamedBackoff")).toContain("src/retry.ts#L1-L1");
    await expect.poll(() => bed.find("watchedThing")).toContain("src/deep/er/new.ts#L1-L1");
    expect((await bed.rag.stats()).watching).toBe(true);
  });

  it("notices that a branch was switched", async () => {
    await using bed = openTestRag({ files: FILES });
    const git = (...args: string[]) =>
      execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@t", ...args], { cwd: bed.root, stdio: "pipe" });
    git("init", "-q", "-b", "main");
    git("add", "src", "docs");
    git("commit", "-qm", "one");
    git("checkout", "-qb", "other");
    bed.write("src/other.ts", "export function onlyOnOther() {}\n");
    git("add", "src");
    git("commit", "-qm", "two");
    expect((await bed.find("onlyOnOther"))[0]).toBe("src/other.ts#L1-L1");
    expect((await bed.rag.stats()).head).toMatch(/^other /);
    git("checkout", "-q", "main");
    expect((await bed.find("onlyOnOther")).join()).not.toContain("other.ts");
    expect((await bed.rag.stats()).head).toMatch(/^main /);
  });
});

describe("processes", () => {
  const child = (root: string) => fork(join(import.meta.dirname, "index.child.ts"), [root], { stdio: "ignore" });
  const many = () =>
    Object.fromEntries(
      Array.from({ length: 400 }, (_, n) => [
        `m${n % 20}/f${n}.ts`,
        `export function thing${n}() {\n${"  work();\n".repeat(60)}}\n`,
      ]),
    );

  it("killed while it indexes: what was stored stays, and the next one goes on", async () => {
    await using bed = openTestRag({ files: many() });
    const one = child(bed.root);
    await new Promise((resolve) => one.once("message", resolve));
    one.kill("SIGKILL");
    await new Promise((resolve) => one.once("exit", resolve));
    await bed.rag.build({}, SIGNAL);
    expect(await bed.rag.stats()).toMatchObject({ phase: "ready", files: 400, coverage: 1 });
    expect((await bed.find("thing399"))[0]).toMatch(/f399.ts/);
  });

  it("two that index at once end with one index", async () => {
    await using bed = openTestRag({ files: many() });
    const one = child(bed.root);
    const ended = new Promise((resolve) => one.once("exit", resolve));
    await Promise.all([bed.rag.build({}, SIGNAL), ended]);
    expect(one.exitCode).toBe(0);
    expect(await bed.rag.stats()).toMatchObject({ phase: "ready", files: 400 });
    expect(await bed.find("thing7", { k: 1 })).toEqual(["m7/f7.ts#L1-L62"]);
  });

  it("one that opens an index that another made finds it ready", async () => {
    await using bed = openTestRag({ files: FILES });
    await bed.rag.build({}, SIGNAL);
    await using other = openTestRag({ root: bed.root });
    expect(await other.rag.stats()).toMatchObject({ phase: "ready", files: 4 });
    appendFileSync(join(bed.root, "src/retry.ts"), "export const appendedLater = 1;\n");
    expect((await other.find("appendedLater"))[0]).toMatch(/src\/retry.ts/);
  });
});

describe("hostile trees", () => {
  it("links are not followed, out of the tree or in a circle", async () => {
    await using outside = openTestRag({ files: { "secret.ts": "export const needleOutside = 1;\n" } });
    await using bed = openTestRag({ files: { "a/b.ts": "export const needleInside = 1;\n" } });
    symlinkSync(outside.root, join(bed.root, "out"));
    symlinkSync(join(outside.root, "secret.ts"), join(bed.root, "secret.ts"));
    symlinkSync("..", join(bed.root, "a/up"));
    expect(await bed.find("needleOutside needleInside")).toEqual(["a/b.ts#L1-L1"]);
  });

  it("the state folder is not indexed, wherever it lies", async () => {
    await using bed = openTestRag({ files: FILES });
    mkdirSync(join(bed.root, ".llmc/stubs"), { recursive: true });
    bed.write(".llmc/stubs/a.ts", "export const stubNeedle = 1;\n");
    expect(await bed.find("stubNeedle")).toEqual([]);
  });
});
