import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { BUILT_IN_DENIED_PATHS, createRoots } from "../../base/path/index.ts";
import { createShield, hiddenNames } from "./shield.ts";
import { testExec } from "./test-exec.ts";

let base: string;
let root: string;
let state_dir: string;
beforeEach(() => {
  base = mkdtempSync(join(realpathSync(tmpdir()), "llmc-shield-"));
  root = join(base, "root");
  state_dir = join(root, ".llmc");
  mkdirSync(state_dir, { recursive: true });
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const shield = (denied: readonly string[] = []) =>
  createShield({
    roots: createRoots({ roots: [root], denied, state_dir }),
    denied: [...BUILT_IN_DENIED_PATHS, ...denied],
    state_dir,
  });

const holding = (placed: string[], since_ms = 0) => JSON.stringify({ since_ms, placed, known: [] });

describe("names that a sandbox must not write", () => {
  it("are there while it runs and gone afterwards, whether they existed or not", async () => {
    mkdirSync(join(root, ".git"));
    writeFileSync(join(root, "llmc.toml"), "x");
    const guard = shield();
    const one = await guard.hold();
    const two = await guard.hold();
    expect(existsSync(join(root, ".mcp.json"))).toBe(true);
    expect(one.names).toContainEqual({ path: join(root, ".git"), kind: "folder", masked: false });
    expect(one.names).toContainEqual({ path: join(root, "llmc.toml"), kind: "file", masked: false });
    expect(one.names).toContainEqual({ path: join(root, ".mcp.json"), kind: "folder", masked: true });
    expect(one.names).toContainEqual({ path: state_dir, kind: "folder", masked: true });
    await one.release();
    await one.release();
    expect(existsSync(join(root, ".mcp.json"))).toBe(true);
    await two.release();
    expect(readdirSync(root).sort()).toEqual([".git", ".llmc", "llmc.toml"]);
    await (await guard.hold()).release();
    guard.close();
    expect(readdirSync(root).sort()).toEqual([".git", ".llmc", "llmc.toml"]);
    expect(readdirSync(join(state_dir, "exec/spare"))).toEqual([]);
  });

  it("keep what somebody put into a placeholder meanwhile", async () => {
    const guard = shield();
    const held = await guard.hold();
    writeFileSync(join(root, ".vscode/settings.json"), "{}");
    await held.release();
    expect(readdirSync(join(root, ".vscode"))).toEqual(["settings.json"]);
    expect(readdirSync(root).sort()).toEqual([".llmc", ".vscode"]);
    guard.close();
  });

  it("include those in folders below, and those that a pattern of the operator denies", async () => {
    mkdirSync(join(root, "packages/a/.vscode"), { recursive: true });
    mkdirSync(join(root, "a/b/c/d/node_modules/e/.git"), { recursive: true });
    writeFileSync(join(root, "packages/a/secret.pem"), "x");
    const held = await shield(["rw:*.pem"]).hold();
    expect(held.names).toContainEqual({ path: join(root, "packages/a/.vscode"), kind: "folder", masked: false });
    expect(held.names).toContainEqual({ path: join(root, "packages/a/secret.pem"), kind: "file", masked: true });
    const deep = join(root, "a/b/c/d/node_modules/e/.git");
    expect(held.names).toContainEqual({ path: deep, kind: "folder", masked: false });
    expect(await held.release()).toEqual([]);
  });

  it("leave out what the operator lifted", async () => {
    const held = await shield(["!.vscode"]).hold();
    expect(existsSync(join(root, ".vscode"))).toBe(false);
    expect(held.names.some((name) => name.path.endsWith(".vscode"))).toBe(false);
    mkdirSync(join(root, "pkg/.vscode"), { recursive: true });
    expect(await held.release()).toEqual([]);
    expect(existsSync(join(root, "pkg/.vscode"))).toBe(true);
  });

  it("are kept for another server that still needs them, and swept when it was killed", async () => {
    const holders = join(state_dir, "exec/holders");
    mkdirSync(holders, { recursive: true });
    const guard = shield();
    const held = await guard.hold();
    const own = readdirSync(holders)[0]!;
    // Another living server: this very process under a second engine, as its file says.
    writeFileSync(join(holders, own.replace("-", "-0")), holding([join(root, ".mcp.json")]));
    await held.release();
    expect(existsSync(join(root, ".mcp.json"))).toBe(true);
    expect(existsSync(join(root, ".vscode"))).toBe(false);
    rmSync(holders, { recursive: true });
    mkdirSync(holders);
    writeFileSync(join(holders, "999999999-1"), holding([join(root, ".mcp.json")]));
    const next = shield();
    await next.masks();
    expect(existsSync(join(root, ".mcp.json"))).toBe(false);
    guard.close();
    next.close();
  });

  it("hold in the sandbox for every name, there or not", async () => {
    await using test = testExec();
    const names = BUILT_IN_DENIED_PATHS.filter((rule) => !/[!:/]/.test(rule));
    const script = `
      const fs = require("fs");
      for (const name of ${JSON.stringify(names)}) {
        try { fs.writeFileSync(name, "x"); console.log("WROTE", name); } catch {}
        try { fs.rmSync(name, { recursive: true }); console.log("REMOVED", name); } catch {}
        try { fs.renameSync(name, name + ".away"); console.log("MOVED", name); } catch {}
      }`;
    const { stdout, stderr } = await test.run(["node", "-e", script]);
    expect(stdout + stderr).toBe("");
    expect(readdirSync(test.root)).toEqual([".llmc"]);
  });

  it("are moved away when a sandbox made them further down, and nothing of them is lost", async () => {
    await using test = testExec();
    mkdirSync(join(test.root, "pkg/.claude"), { recursive: true });
    writeFileSync(join(test.root, "pkg/.claude/mine"), "mine");
    const script = `
      const fs = require("fs");
      fs.mkdirSync("a/b/c/d/e/.git/hooks", { recursive: true });
      fs.writeFileSync("a/b/c/d/e/.git/hooks/post-checkout", "evil");
      fs.mkdirSync("node_modules/x/.VSCode", { recursive: true });
      fs.symlinkSync("/etc", "pkg/.cursor");
      fs.writeFileSync("pkg/.mcp.json", "{}");
      fs.mkdirSync("tmp/.idea", { recursive: true });
      fs.renameSync("tmp", "moved");
      try { fs.writeFileSync("pkg/.claude/mine", "theirs"); } catch {}
      fs.utimesSync("pkg", 0, 0);`;
    const first = await test.run(["node", "-e", script]);
    expect(first.stderr).toBe("");
    expect([...first.moved_away].sort()).toEqual([
      "a/b/c/d/e/.git",
      "moved/.idea",
      "node_modules/x/.VSCode",
      "pkg/.cursor",
      "pkg/.mcp.json",
    ]);
    expect(readdirSync(join(test.root, "a/b/c/d/e"))).toEqual([]);
    expect(readdirSync(join(test.root, "pkg"))).toEqual([".claude"]);
    expect(readFileSync(join(test.root, "pkg/.claude/mine"), "utf8")).toBe("mine");
    const kept = join(test.root, ".llmc/quarantine");
    const git = readdirSync(kept, { recursive: true }).find((name) => String(name).endsWith("post-checkout"));
    expect(readFileSync(join(kept, String(git)), "utf8")).toBe("evil");
    expect((await test.run(["node", "-e", ""])).moved_away).toEqual([]);
  });

  it("are judged by the last of several sandboxes, so that one does not take what another still uses", async () => {
    await using test = testExec();
    const uses = `const fs = require("fs"); fs.mkdirSync("t/.git", { recursive: true }); const wait = () =>
      fs.existsSync("go") ? fs.readdirSync("t/.git") && fs.rmSync("t", { recursive: true }) : setTimeout(wait, 5); wait();`;
    const long = test.run(["node", "-e", uses]);
    await expect.poll(() => existsSync(join(test.root, "t/.git"))).toBe(true);
    expect((await test.run(["node", "-e", ""])).moved_away).toEqual([]);
    writeFileSync(join(test.root, "go"), "");
    expect(await long).toMatchObject({ exit_code: 0, stderr: "", moved_away: [] });
  });

  it("of a killed server go with the next start, and those that somebody made since stay", async () => {
    const holders = join(state_dir, "exec/holders");
    mkdirSync(holders, { recursive: true });
    writeFileSync(join(holders, "999999999-1"), holding([], Date.now()));
    mkdirSync(join(root, "a/.vscode"), { recursive: true });
    writeFileSync(join(holders, "999999999-1.died"), "");
    const died = new Date(Date.now() + 50);
    utimesSync(join(holders, "999999999-1.died"), died, died);
    await expect.poll(() => Date.now() > died.getTime() + 100).toBe(true);
    mkdirSync(join(root, "b/.vscode"), { recursive: true });
    const guard = shield();
    await guard.masks();
    expect(existsSync(join(root, "a/.vscode"))).toBe(false);
    expect(existsSync(join(root, "b/.vscode"))).toBe(true);
    expect(readdirSync(holders)).toEqual([]);
    guard.close();
  });

  it("name what a recursive reader must skip", () => {
    const roots = createRoots({ roots: [root], state_dir });
    expect(hiddenNames([...BUILT_IN_DENIED_PATHS, "rw:secrets/"], roots, state_dir)).toEqual([".llmc", "secrets"]);
  });
});

describe("a root behind a link", () => {
  it("keeps its state folder from project code all the same", async () => {
    const link = join(base, "link");
    symlinkSync(root, link);
    writeFileSync(join(state_dir, "secret"), "STATE");
    await using test = testExec(
      {},
      { roots: createRoots({ roots: [link], state_dir: join(link, ".llmc") }), state_dir: join(link, ".llmc") },
    );
    const { stdout } = await test.run(["node", "-p", "require('fs').readdirSync('.llmc').length"]);
    expect(stdout).toBe("0\n");
    expect((await test.run("rg -uuu STATE")).stdout).toBe("");
  });
});
