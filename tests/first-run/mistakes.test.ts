import { spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { BINARY, runBinary } from "../harness/cli.ts";
import { startHttp } from "../harness/http.ts";
import { type Temp, temp } from "../harness/temp.ts";

let folder: Temp;
let root: string;
beforeEach(() => {
  folder = temp();
  root = join(folder.path, "project");
  mkdirSync(join(root, ".git"), { recursive: true });
});
afterEach(() => folder[Symbol.dispose]());

/** One line, on stderr, and the exit code of a command that could not start. */
async function mistake(args: string[], options: { cwd?: string; env?: Record<string, string> } = {}): Promise<string> {
  const { code, stdout, stderr } = await runBinary(args, { cwd: root, ...options });
  expect([code, stdout, stderr.trim().split("\n").length]).toEqual([2, "", 1]);
  return stderr.trim();
}

describe("a first mistake gets one line that says what to do", () => {
  it("no repository", async () => {
    const line = await mistake(["serve"], { cwd: folder.path });
    expect(line).toContain("No repository here");
    expect(line).toContain("make this one with llmc init");
  });

  it("a root that is not there", async () => {
    expect(await mistake(["serve", "--root", "gone"])).toMatch(/The root cannot be opened: .*gone\. Create it/);
    writeFileSync(join(root, "llmc.toml"), '[mcp.tools]\nallowed_roots = ["nowhere"]\n');
    expect(await mistake(["serve"])).toMatch(/nowhere\. Create it, or change the root/);
  });

  it("a configuration that cannot be read, understood or meant", async () => {
    const file = join(root, "llmc.toml");
    mkdirSync(file);
    expect(await mistake(["serve"])).toMatch(/cannot be read: .*Let this user read it, or name another with --config/);
    const other = join(root, "other.toml");
    writeFileSync(other, "mode = = 1\n");
    expect(await mistake(["serve", "--config", other])).toMatch(/other\.toml:1:\d+: .*Mend the TOML/);
    writeFileSync(other, "[mcp]\nmoode = 'hybrid'\n");
    expect(await mistake(["serve", "--config", other])).toContain("Did you mean mcp.mode?");
    writeFileSync(other, "[mcp]\nmode = 'fast'\n");
    expect(await mistake(["serve", "--config", other])).toContain("use classic, hybrid, code_execution");
  });

  it("a token that is missing or short when the server starts, and wrong when a client calls", async () => {
    expect(await mistake(["serve", "--http"])).toContain("Start with LLMC_MCP_TOKEN=$(openssl rand -hex 32)");
    expect(await mistake(["serve", "--http"], { env: { LLMC_MCP_TOKEN: "short" } })).toContain("openssl rand -hex 32");
    await using server = await startHttp(root);
    const { status, body } = await server.post(
      "/tool",
      { name: "stat", args: {} },
      { authorization: "Bearer nothing-like-it" },
    );
    expect([status, body]).toMatchObject([
      401,
      {
        code: "AUTH_FAILED",
        message: expect.stringContaining("started with"),
        hint: expect.stringContaining("Bearer"),
      },
    ]);
  });

  it("a port that is in use", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    try {
      await new Promise((resolve) => other.once("listening", resolve));
      const port = String((other.address() as AddressInfo).port);
      const line = await mistake(["serve", "--http", "--port", port], { env: { LLMC_MCP_TOKEN: "0123456789abcdef" } });
      expect(line).toContain(`Port ${port} is in use on 127.0.0.1. Stop the other server, or use --port.`);
    } finally {
      other.close();
    }
  });

  it.each([
    ["18.20.0", /Node 18\.20\.0 is too old: 22\.18 or newer is needed\. 'npm install' in .* brings one\./],
    [undefined, /no Node found: 22\.18 or newer is needed\. 'npm install' in .* brings one\./],
  ])("a Node %s where none came with the package", (version, text) => {
    const bin = join(folder.path, "llmc", "bin");
    for (const path of [bin, join(folder.path, "llmc", "dist"), join(folder.path, "path")])
      mkdirSync(path, { recursive: true });
    copyFileSync(BINARY, join(bin, "llmc"));
    writeFileSync(join(folder.path, "llmc", "dist", "main.mjs"), "");
    const fake = join(folder.path, "path", "node");
    if (version !== undefined) {
      writeFileSync(fake, `#!/bin/sh\necho v${version}\n`);
      chmodSync(fake, 0o755);
    }
    for (const program of ["sh", "readlink"]) symlinkSync(join("/bin", program), join(dirname(fake), program));
    const { status, stderr } = spawnSync(join(bin, "llmc"), ["serve"], {
      env: { PATH: dirname(fake) },
      encoding: "utf8",
    });
    expect([status, stderr.trim().split("\n").length, stderr]).toEqual([2, 1, expect.stringMatching(text)]);
  });
});
