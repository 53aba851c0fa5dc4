import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { BUILT_IN_DENIED_PATHS, createRoots } from "../../base/path/index.ts";
import { createShield, hiddenNames, sweepShield } from "./shield.ts";
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

describe("names that a sandbox must not write", () => {
  it("are there while it runs and gone afterwards, whether they existed or not", () => {
    mkdirSync(join(root, ".git"));
    writeFileSync(join(root, "llmc.toml"), "x");
    const guard = shield();
    const one = guard.hold();
    const two = guard.hold();
    expect(existsSync(join(root, ".mcp.json"))).toBe(true);
    expect(one.names).toContainEqual({ path: join(root, ".git"), kind: "folder", masked: false });
    expect(one.names).toContainEqual({ path: join(root, "llmc.toml"), kind: "file", masked: false });
    expect(one.names).toContainEqual({ path: join(root, ".mcp.json"), kind: "folder", masked: true });
    expect(one.names).toContainEqual({ path: state_dir, kind: "folder", masked: true });
    one[Symbol.dispose]();
    one[Symbol.dispose]();
    expect(existsSync(join(root, ".mcp.json"))).toBe(true);
    two[Symbol.dispose]();
    expect(readdirSync(root).sort()).toEqual([".git", ".llmc", "llmc.toml"]);
    guard.hold()[Symbol.dispose]();
    guard.close();
    expect(readdirSync(root).sort()).toEqual([".git", ".llmc", "llmc.toml"]);
    expect(readdirSync(join(state_dir, "exec/spare"))).toEqual([]);
  });

  it("keep what somebody put into a placeholder meanwhile", () => {
    const guard = shield();
    const held = guard.hold();
    writeFileSync(join(root, ".vscode/settings.json"), "{}");
    held[Symbol.dispose]();
    expect(readdirSync(join(root, ".vscode"))).toEqual(["settings.json"]);
    expect(readdirSync(root).sort()).toEqual([".llmc", ".vscode"]);
    guard.close();
  });

  it("include those in folders below, and those that a pattern of the operator denies", () => {
    mkdirSync(join(root, "packages/a/.vscode"), { recursive: true });
    writeFileSync(join(root, "packages/a/secret.pem"), "x");
    using held = shield(["rw:*.pem"]).hold();
    expect(held.names).toContainEqual({ path: join(root, "packages/a/.vscode"), kind: "folder", masked: false });
    expect(held.names).toContainEqual({ path: join(root, "packages/a/secret.pem"), kind: "file", masked: true });
  });

  it("leave out what the operator lifted", () => {
    using held = shield(["!.vscode"]).hold();
    expect(existsSync(join(root, ".vscode"))).toBe(false);
    expect(held.names.some((name) => name.path.endsWith(".vscode"))).toBe(false);
  });

  it("are kept for another server that still needs them, and swept when it was killed", () => {
    const holders = join(state_dir, "exec/holders");
    mkdirSync(holders, { recursive: true });
    const guard = shield();
    const held = guard.hold();
    const own = readdirSync(holders)[0]!;
    // Another living server: this very process under a second engine, as its file says.
    writeFileSync(join(holders, own.replace("-", "-0")), join(root, ".mcp.json"));
    held[Symbol.dispose]();
    expect(existsSync(join(root, ".mcp.json"))).toBe(true);
    expect(existsSync(join(root, ".vscode"))).toBe(false);
    rmSync(holders, { recursive: true });
    mkdirSync(holders);
    writeFileSync(join(holders, "999999999-1"), join(root, ".mcp.json"));
    sweepShield(state_dir);
    expect(existsSync(join(root, ".mcp.json"))).toBe(false);
    guard.close();
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
