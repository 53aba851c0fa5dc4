import { existsSync, readFileSync } from "node:fs";
import { encode } from "gpt-tokenizer/encoding/o200k_base";
import { describe, expect, it } from "vitest";
import { surfaceCost } from "../../src/cli/tools.ts";
import { MODES } from "../../src/core/options.ts";
import { aliasesOf, canonicalName } from "../../src/tools/aliases.ts";
import { TOOLS } from "../../src/tools/index.ts";
import { instructionsFor } from "../../src/tools/instructions.ts";
import { annotationsOf, listTools } from "../../src/tools/surface.ts";
import { createBed } from "../harness/bed.ts";
import { runBinary } from "../harness/cli.ts";

/** Tokens of definitions and instructions that a mode may cost every conversation. */
const BUDGET = { classic: 3500, hybrid: 650, code_execution: 450 } as const;

describe("the list of tools", () => {
  it("names each tool once, as every client accepts it", () => {
    expect(new Set(TOOLS.map((tool) => tool.name)).size).toBe(TOOLS.length);
    // Cursor counts server and tool name together: 60 at most.
    for (const { name } of TOOLS) expect(name).toMatch(/^[a-zA-Z_][a-zA-Z0-9_-]{0,54}$/);
  });

  it.each(TOOLS.map((tool) => [tool.name, tool] as const))(
    "%s says what it does in a line, has effects and no root-level union",
    (_name, tool) => {
      expect(tool.description.length).toBeLessThanOrEqual(140);
      expect(tool.description).not.toContain("\n");
      expect(tool.title.length).toBeGreaterThan(2);
      expect(tool.effects.length).toBeGreaterThan(0);
      const [listed] = listTools([tool], { dialect: "portable", structured: false });
      for (const word of ["oneOf", "anyOf", "allOf", "$schema", "additionalProperties"])
        expect(listed!.inputSchema[word]).toBeUndefined();
      expect(
        Object.keys(listed!).filter((key) => !["name", "description", "inputSchema", "annotations"].includes(key)),
      ).toEqual([]);
    },
  );

  it("marks readers as read-only and additions as harmless, and says nothing where the default is true", () => {
    const hint = (name: string) => annotationsOf(TOOLS.find((tool) => tool.name === name)!);
    expect(hint("read_file")).toEqual({ readOnlyHint: true });
    expect(hint("linux_fs_mkdirs")).toEqual({ destructiveHint: false });
    expect(hint("linux_fs_write")).toBeUndefined();
  });

  it("does not list aliases, and each leads to one tool", () => {
    const names = new Set(TOOLS.map((tool) => tool.name));
    for (const tool of TOOLS)
      for (const alias of aliasesOf(tool.name)) {
        expect(names.has(alias)).toBe(false);
        expect(canonicalName(alias)).toBe(tool.name);
      }
    expect(canonicalName("linux.fs_read")).toBe("linux_fs_read");
    expect(canonicalName("linux.fs_mkdir")).toBe("linux_fs_mkdirs");
    expect(canonicalName("rag_query")).toBe("rag_search");
  });
});

/** Its tokens when the snapshots were last made. */
function before(name: string): number | undefined {
  const file = new URL(`../../src/tools/__snaps__/${name}.json`, import.meta.url);
  if (!existsSync(file)) return undefined;
  return (JSON.parse(readFileSync(file, "utf8")) as { tokens: number }).tokens;
}

describe.each(MODES)("mode %s", (mode) => {
  it("stays within its budget of tokens", async () => {
    await using bed = createBed({ cli: { "mcp.mode": mode } });
    const cost = await surfaceCost(bed.app);
    const rows = cost.tools.map(({ name, tokens }) => `${name}: ${before(name) ?? "new"} before, ${tokens} now`);
    const report = [...rows, `instructions: ${cost.instructions_tokens}`].join("\n");
    expect(cost.total_tokens, report).toBeLessThanOrEqual(BUDGET[mode]);
  });

  it("costs what `llmc tools --json` says", async () => {
    await using bed = createBed({ cli: { "mcp.mode": mode } });
    const { stdout } = await runBinary(["tools", "--json", "--root", bed.root], { env: { LLMC_MCP_MODE: mode } });
    const { total_tokens } = JSON.parse(stdout) as { total_tokens: number };
    expect(total_tokens).toBe((await surfaceCost(bed.app)).total_tokens);
    const [listed, instructions] = [bed.app.tools(), bed.app.instructions];
    const exact = encode(JSON.stringify(listed)).length + encode(instructions).length;
    expect(Math.abs(total_tokens - exact)).toBeLessThanOrEqual(listed.length + 4);
  });

  it("has instructions within the limit that say only what is there", async () => {
    await using bed = createBed({ cli: { "mcp.mode": mode } });
    const text = bed.app.instructions;
    expect(text.length).toBeLessThanOrEqual(mode === "classic" ? 800 : 400);
    for (const word of text.match(/\b[a-z]+_[a-z_]+\b/g) ?? [])
      expect([...TOOLS.map((tool) => tool.name), "res_"]).toContain(word);
    expect(instructionsFor(bed.app.mode)).toBe(text);
  });

  it("is listed in the same order every time", async () => {
    await using one = createBed({ cli: { "mcp.mode": mode } });
    await using two = createBed({ cli: { "mcp.mode": mode } });
    expect(JSON.stringify(one.app.tools())).toBe(JSON.stringify(two.app.tools()));
    expect(one.app.tools()).toBe(one.app.tools());
  });
});

describe("modes", () => {
  it("warn about names with no tool behind them, and never list a phantom", async () => {
    await using bed = createBed({
      config:
        "[mcp]\nmode = 'hybrid'\n[mcp.hybrid]\npromoted_tools = ['linux.fs_write', 'fly']\n[mcp.tools]\ndisabled = ['walk', 'linux_fs_write']\n",
    });
    expect(bed.app.tools().map((tool) => tool.name)).toEqual(["read_file", "list_dir", "execute_code", "llmc_init"]);
    expect(bed.app.warnings().join("\n")).toMatch(
      /names fly[\s\S]*names walk[\s\S]*linux.fs_write, which mcp.tools.disabled/,
    );
  });

  it("a disabled tool is neither listed nor callable, by any name", async () => {
    await using bed = createBed({ config: "[mcp.tools]\ndisabled = ['linux_fs_read']\n" });
    expect(bed.app.tools().map((tool) => tool.name)).not.toContain("linux_fs_read");
    for (const name of ["linux_fs_read", "linux.fs_read"])
      expect(await bed.call(name, { path: "x" })).toMatchObject({ fault: { code: "tool_disabled" } });
  });

  it("offer the operator's executables in classic, and in hybrid when promoted", async () => {
    const executables =
      "[mcp.tools.executables.lines]\ncommand = ['wc', '-l']\ndescription = 'Count lines.'\nclass = 'reader'\n";
    await using classic = createBed({ config: executables, files: { a: "1\n2\n" } });
    expect(classic.app.tools().map((tool) => tool.name)).toContain("lines");
    expect(await classic.payload("lines", { args: ["a"] })).toMatchObject({ data: { stdout: "2 a\n", exit_code: 0 } });
    await using hybrid = createBed({ config: `[mcp]\nmode = 'hybrid'\n${executables}` });
    expect(hybrid.app.tools().map((tool) => tool.name)).not.toContain("lines");
    await using promoted = createBed({
      config: `[mcp]\nmode = 'hybrid'\n[mcp.hybrid]\npromoted_tools = ['lines']\n${executables}`,
    });
    expect(promoted.app.tools().map((tool) => tool.name)).toContain("lines");
  });
});
