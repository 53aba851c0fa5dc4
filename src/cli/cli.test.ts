import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { BINARY, runBinary } from "../../tests/harness/cli.ts";
import { type Temp, temp } from "../../tests/harness/temp.ts";
import { inTerminal } from "../../tests/harness/terminal.ts";
import { COMMANDS } from "./commands.ts";

let folder: Temp;
beforeEach(() => {
  folder = temp();
  mkdirSync(join(folder.path, ".git"));
  writeFileSync(join(folder.path, "a.txt"), "hello\n");
});
afterEach(() => folder[Symbol.dispose]());

const llmc = (...args: string[]) => runBinary(args, { cwd: folder.path });

describe("the command line", () => {
  it("explains itself, the whole and each command", async () => {
    const { stdout, code } = await llmc("--help");
    expect(code).toBe(0);
    for (const { name } of COMMANDS) {
      expect(stdout).toContain(`  ${name}`);
      expect((await llmc(...name.split(" "), "--help")).stdout).toContain(`Usage: llmc ${name}`);
    }
    expect(stdout.split("\n").every((line) => line.length <= 80)).toBe(true);
  });

  it("breaks what it says on a terminal between words", async () => {
    const args = ["rlm", "query", "What is it?", "--file", "a.txt", "--model", "openai/gpt-4o"];
    await using session = inTerminal(args, { cwd: folder.path });
    expect(await session.ended).toBe(2);
    const lines = session.text().trim().split("\r\n");
    expect(lines.slice(1).join(" ")).toContain("mcp.rlm.allowed_model_prefixes allows ollama_chat/, ollama/.");
    expect(lines.length).toBeGreaterThan(2);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
  });

  it("shows a person the answer of a call, without the log of it", async () => {
    await using session = inTerminal(["call", "read_file", '{"path":"a.txt"}'], { cwd: folder.path });
    expect(await session.ended).toBe(0);
    expect(session.text()).toContain("hello");
    expect(session.text()).not.toContain('"level":"info"');
  });

  it("prints versions", async () => {
    expect((await llmc("--version")).stdout).toMatch(
      /^llmc \d+\.\d+\.\d+ \(node 2\d.*; MCP 2025-06-18, 2025-11-25, 2026-07-28\)\n$/,
    );
  });

  it.each([
    [["srve"], "Did you mean llmc serve?"],
    [["serve", "--rot", "x"], "Did you mean --root?"],
    [["serve", "--root"], "--root needs a value (DIR)."],
    [["config"], "Try llmc config show."],
    [["serve", "extra"], 'takes no "extra"'],
    [["call"], "Which tool?"],
    [["call", "stat", "{bad"], "The arguments are not JSON"],
    [["serve", "--mode", "fast"], "classic, hybrid, code_execution"],
    [["serve", "--root", "/no/such/place"], "The root cannot be opened"],
    [["serve", "--config", "gone.toml"], "does not exist"],
    [["audit", "--since", "yesterdayish"], "is no time"],
  ])("answers %j with one line that says what to do", async (args, text) => {
    const { code, stderr, stdout } = await llmc(...args);
    expect(stderr).toContain(text);
    expect(stderr.trim().split("\n")).toHaveLength(1);
    expect(stdout).toBe("");
    expect(code).toBe(2);
  });

  it("works through a link from anywhere, as npm installs it", async () => {
    symlinkSync(BINARY, join(folder.path, "link"));
    const { spawnSync } = await import("node:child_process");
    expect(spawnSync(join(folder.path, "link"), ["--version"], { cwd: "/", encoding: "utf8" }).stdout).toContain(
      "llmc ",
    );
    expect(spawnSync("./link", ["--version"], { cwd: folder.path, encoding: "utf8" }).stdout).toContain("llmc ");
    expect(
      spawnSync("llmc", ["--version"], {
        cwd: "/",
        env: { PATH: `${join(BINARY, "..")}:/usr/bin:/bin` },
        encoding: "utf8",
      }).stdout,
    ).toContain("llmc ");
  });

  it("makes a call through the same door as a client", async () => {
    expect(await llmc("call", "read_file", '{"path":"a.txt"}')).toMatchObject({ code: 0, stdout: "{}\n\nhello\n" });
    expect((await llmc("call", "read_file", '{"path":"a.txt"}', "--data")).stdout).toContain('{"data":"hello\\n"');
    const refused = await llmc("call", "read_file", '{"path":"/etc/passwd"}');
    expect([refused.code, JSON.parse(refused.stdout).meta.error_code]).toEqual([1, "path_denied"]);
  });

  it("lists tools with their tokens, for people and for machines", async () => {
    const { stdout } = await llmc("tools", "--mode", "hybrid");
    expect(stdout).toMatch(/read_file +\d+ {2}Read/);
    const json = JSON.parse((await llmc("tools", "--json")).stdout);
    expect(json.total_tokens).toBe(json.instructions_tokens + Number(json.total_tokens - json.instructions_tokens));
    expect(json.tools[0]).toMatchObject({ name: "read_file", definition: { inputSchema: { type: "object" } } });
  });

  it("shows the configuration and where each value came from", async () => {
    writeFileSync(join(folder.path, "llmc.toml"), "[mcp.output]\nmax_tokens = 900\n");
    const { stdout } = await runBinary(["config", "show"], {
      cwd: folder.path,
      env: { LLMC_MCP_OUTPUT_FORMAT: "json" },
    });
    expect(stdout).toMatch(/mcp\.output\.max_tokens +900 {2}\(file\)/);
    expect(stdout).toMatch(/mcp\.output\.format +"json" {2}\(LLMC_MCP_OUTPUT_FORMAT\)/);
    expect(stdout).toMatch(/mcp\.mode +"classic"\n/);
  });

  it("validates the repository and says how to mend what it finds", async () => {
    const fine = await llmc("repo", "validate");
    expect(fine.code).toBe(0);
    expect(fine.stdout).toMatch(/✓ commands +project code runs at level/);
    expect(fine.stdout).toMatch(/✓ index +none yet/);
    writeFileSync(
      join(folder.path, "llmc.toml"),
      "[mcp.tools]\nallowed_roots = ['.', 'gone']\n[mcp.hybrid]\npromoted_tools = ['fly']\n[mcp]\nmode = 'hybrid'\n",
    );
    const { code, stdout } = await llmc("repo", "validate", "--json");
    const { ok, findings } = JSON.parse(stdout) as { ok: boolean; findings: { level: string; text: string }[] };
    expect([code, ok]).toEqual([1, false]);
    expect(
      findings
        .filter(({ level }) => level === "error")
        .map(({ text }) => text)
        .join(),
    ).toContain("gone does not exist. Create it");
    writeFileSync(join(folder.path, "llmc.toml"), "[mcp.tols]\n");
    const bad = await llmc("repo", "validate");
    expect([bad.code, bad.stdout]).toEqual([1, expect.stringContaining("Did you mean mcp.tools?")]);
  });

  it("reads the audit and filters it", async () => {
    expect((await llmc("audit")).stderr).toContain("No calls were audited yet");
    await llmc("call", "stat", '{"path":"a.txt"}');
    await llmc("call", "stat", '{"path":"gone.txt"}');
    expect((await llmc("audit")).stdout.trim().split("\n")).toHaveLength(2);
    const errors = (await llmc("audit", "--code", "error", "--since", "1h", "--json")).stdout.trim().split("\n");
    expect(errors).toHaveLength(1);
    expect(JSON.parse(errors[0]!)).toMatchObject({ tool: "stat", paths: ["gone.txt"], error_code: "file_not_found" });
    expect((await llmc("audit", "--path", "a.txt", "--tool", "stat", "--limit", "1")).stdout).toContain("a.txt");
    expect((await llmc("audit", "--tool", "none")).stdout).toBe("");
  });

  it("prints what to paste into a client when asked to", async () => {
    const { stderr, stdout } = await llmc("serve", "--welcome");
    expect(stdout).toBe("");
    const entry = /\{\n {2}"mcpServers"[\s\S]*?\n\}\n/.exec(stderr)![0];
    const { command, args } = JSON.parse(entry).mcpServers.llmc;
    expect(existsSync(command)).toBe(true);
    expect(args).toEqual(["serve", "--root", folder.path]);
  });

  it("does not serve a home directory or a disk by accident", async () => {
    const { code, stderr } = await runBinary(["serve"], { cwd: "/" });
    expect([code, stderr]).toEqual([2, expect.stringContaining("No repository here")]);
  });
});
