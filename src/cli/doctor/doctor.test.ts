import { mkdirSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runBinary } from "../../../tests/harness/cli.ts";
import { type Temp, temp } from "../../../tests/harness/temp.ts";
import type { Finding } from "../findings.ts";

let folder: Temp;
let home: string;
let root: string;
beforeEach(() => {
  folder = temp();
  home = join(folder.path, "home");
  root = join(folder.path, "project");
  for (const path of [home, root, join(root, ".git")]) mkdirSync(path);
});
afterEach(() => folder[Symbol.dispose]());

const llmc = (args: string[], env: Record<string, string> = {}) =>
  runBinary(args, { cwd: root, env: { HOME: home, LLMC_MCP_SERVER_PORT: "0", ...env } });

async function findings(
  env: Record<string, string> = {},
): Promise<{ code: number | null; ok: boolean; of(about: string): Finding[] }> {
  const { code, stdout } = await llmc(["doctor", "--json"], env);
  const { ok, findings: all } = JSON.parse(stdout) as { ok: boolean; findings: Finding[] };
  return { code, ok, of: (about) => all.filter((finding) => finding.about === about) };
}

async function listening(): Promise<{ port: number } & AsyncDisposable> {
  const server: Server = createServer((_, response) => response.end("hello"));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

describe("llmc doctor", () => {
  it("finds a new repository well, line by line", async () => {
    const { code, stdout, stderr } = await llmc(["doctor"]);
    expect([code, stderr]).toEqual([0, ""]);
    for (const about of [
      "node",
      "config",
      "mode",
      "roots",
      "state",
      "ripgrep",
      "git",
      "commands",
      "sqlite",
      "index",
      "port",
      "models",
    ])
      expect(stdout).toMatch(new RegExp(`^✓ ${about} `, "m"));
    expect(stdout).toMatch(/^✓ sandbox +javascript runs/m);
    expect(stdout).toMatch(/^✓ sandbox +python runs/m);
    expect(stdout).toMatch(/^! clients +none found: llmc client add/m);
    expect(
      stdout
        .trim()
        .split("\n")
        .every((line) => /^[✓!✗] \S+ +\S/.test(line)),
    ).toBe(true);
  });

  it("says what to do about a configuration that cannot be read, and fails", async () => {
    writeFileSync(join(root, "llmc.toml"), "[mcp]\nmoode = 'hybrid'\n");
    const { code, ok, of } = await findings();
    expect([code, ok]).toEqual([1, false]);
    expect(of("config")).toMatchObject([{ level: "error", text: expect.stringContaining("Did you mean") }]);
  });

  it("fails where a root is missing, and names it", async () => {
    writeFileSync(join(root, "llmc.toml"), "[mcp.tools]\nallowed_roots = ['.', 'gone']\n");
    const { code, of } = await findings();
    expect(code).toBe(1);
    expect(of("roots").map(({ level }) => level)).toEqual(["ok", "error"]);
  });

  it("tells a port that is taken from one that is free and one that llmc serves", async () => {
    await using other = await listening();
    const { code, of } = await findings({ LLMC_MCP_SERVER_PORT: String(other.port) });
    expect([code, of("port")]).toMatchObject([
      0,
      [{ level: "warning", text: expect.stringContaining("another program") }],
    ]);
  });

  it("asks the model servers of this machine, and no others", async () => {
    await using model = await listening();
    const embeddings = (url: string) => `[rag.embeddings]\nprovider = "ollama"\nmodel = "m"\nbase_url = "${url}"\n`;
    const told = async (url: string) => {
      writeFileSync(join(root, "llmc.toml"), embeddings(url));
      return (await findings()).of("models");
    };
    expect(await told(`http://127.0.0.1:${model.port}`)).toMatchObject([
      { level: "ok", text: expect.stringContaining("answers") },
    ]);
    expect(await told("http://127.0.0.1:1")).toMatchObject([
      { level: "warning", text: expect.stringContaining("Nothing answers") },
    ]);
    expect(await told("https://models.example.org/v1")).toMatchObject([
      { level: "ok", text: expect.stringContaining("not asked") },
    ]);
  });

  it("sees which clients know this repository, and which would start a program that is gone", async () => {
    mkdirSync(join(home, ".cursor"));
    expect((await findings()).of("clients")).toMatchObject([
      { level: "warning", text: expect.stringContaining("Cursor does not know it yet") },
    ]);
    await llmc(["client", "add", "cursor"]);
    expect((await findings()).of("clients")).toMatchObject([
      { level: "ok", text: expect.stringContaining("Cursor knows it") },
    ]);
    writeFileSync(
      join(root, ".cursor", "mcp.json"),
      JSON.stringify({ mcpServers: { llmc: { command: "/gone/llmc", args: ["serve", "--root", root] } } }),
    );
    const { code, of } = await findings();
    expect([code, of("clients")]).toMatchObject([1, [{ level: "error", text: expect.stringContaining("gone") }]]);
  });

  it("says what is missing on the machine, and what shuts project code in", async () => {
    const { code, of } = await findings({ PATH: join(home, "empty"), LLMC_ISOLATED: "1" });
    expect(code).toBe(0);
    expect(of("git")).toMatchObject([{ level: "warning", text: expect.stringContaining("Install git") }]);
    expect(of("commands")).toMatchObject([{ text: expect.stringMatching(/level (bwrap|isolated)/) }]);
    const off = await findings({ LLMC_MCP_TOOLS_ENABLE_RUN_CMD: "false" });
    expect(off.of("commands")).toMatchObject([{ level: "ok", text: expect.stringContaining("nothing runs") }]);
  });
});
