import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { describe, expect, it } from "vitest";
import { createBed } from "../harness/bed.ts";
import { connect } from "../harness/client.ts";
import { temp } from "../harness/temp.ts";
import { files, run } from "./running.ts";

const LANGUAGES = ["javascript", "python"] as const;

describe.each(LANGUAGES)("tools from %s", (language) => {
  const js = language === "javascript";
  const call = (name: string, args: unknown) =>
    js
      ? `await tools.${name}(${JSON.stringify(args)})`
      : `tools.${name}(json.loads(${JSON.stringify(JSON.stringify(args))}))`;
  const program = (body: string) => (js ? body : `import json\n${body}`);

  it("give the tools' payloads as native values", async () => {
    await using bed = createBed({ files });
    const { result, tool_calls, stderr } = await run(bed, language, program(call("read_file", { path: "a.txt" })));
    expect(stderr).toBe("");
    expect(result).toEqual({ data: "one\ntwo\n", meta: { path: "a.txt", length: 8, truncated: false } });
    expect(tool_calls).toEqual({ read_file: 1 });
  });

  it("throw faults with code, message and hint", async () => {
    await using bed = createBed({ files });
    const body = js
      ? 'try { await tools.read_file({ path: "/etc/passwd" }) } catch (error) { ({ code: error.code, hint: error.hint, is: error instanceof ToolError }) }'
      : 'try:\n  tools.read_file(path="/etc/passwd")\nexcept ToolError as error:\n  caught = {"code": error.code, "hint": error.hint, "is": True}\ncaught';
    expect((await run(bed, language, js ? body : program(body))).result).toEqual({
      code: "path_denied",
      hint: expect.stringContaining("inside the root"),
      is: true,
    });
  });

  it("are found by words, explained by name and listed", async () => {
    await using bed = createBed({ files });
    const ask = js
      ? '[await tools.search("edit a file"), await tools.help("linux_fs_edit"), Object.keys(tools).length]'
      : '[tools.search("edit a file"), tools.help("linux_fs_edit"), len(dir(tools))]';
    const [found, help, count] = (await run(bed, language, ask)).result as [string[], string, number];
    expect(found[0]).toMatch(/^linux_fs_edit\(path/);
    expect(help).toContain("old_text");
    expect(count).toBe(bed.app.mode.nested.length);
  });

  it("spend the run's own allowance", async () => {
    await using bed = createBed({ files, config: "[mcp.sandbox]\nmax_tool_calls = 5\n" });
    const loop = js
      ? 'for (let i = 0; i < 9; i++) await tools.stat({ path: "a.txt" })'
      : 'for i in range(9):\n  tools.stat(path="a.txt")';
    const { exit_code, limit, tool_calls } = await run(bed, language, loop);
    expect(exit_code).not.toBe(0);
    expect(limit?.name).toContain("tool_calls");
    expect(tool_calls["stat"]).toBeLessThanOrEqual(6);
  });

  it("make a thousand calls in one run", async () => {
    await using bed = createBed({ files });
    const loop = js
      ? 'let sum = 0; for (let i = 0; i < 1000; i++) sum += (await tools.stat({ path: "a.txt" })).data.size; sum'
      : 'total = 0\nfor i in range(1000):\n  total += tools.stat(path="a.txt")["data"]["size"]\ntotal';
    expect((await run(bed, language, loop)).result).toBe(8000);
  });

  it("refuse, limit and audit an inner call exactly like an outer one", async () => {
    await using bed = createBed({ files, config: "[mcp.tools]\ndisabled = ['maasl_locks']\n" });
    symlinkSync("/etc", join(bed.root, "door"));
    symlinkSync("/nowhere/at/all", join(bed.root, "dangling"));
    writeFileSync(join(bed.root, "evil.sh"), "#!/bin/sh\ntouch MARKER\n", { mode: 0o755 });
    const paths = [
      "../../etc/passwd",
      "/etc/passwd",
      "door/passwd",
      "dangling",
      "/proc/self/environ",
      "a\u0000b",
      ".git/config",
      ".llmc/locks.db",
      "x".repeat(5000),
      "gone.txt",
    ];
    const table: [string, Record<string, unknown>][] = [
      ...paths.flatMap((path): [string, Record<string, unknown>][] => [
        ["read_file", { path }],
        ["stat", { path }],
        ["list_dir", { path }],
        ["linux_fs_write", { path: path === "gone.txt" ? "door/new" : path, content: "x" }],
        // The link itself lies inside: it may go, or be taken the place of.
        ...(path === "dangling"
          ? []
          : ([
              ["linux_fs_delete", { path }],
              ["linux_fs_move", { source: "a.txt", target: path === "gone.txt" ? ".vscode" : path }],
            ] as [string, Record<string, unknown>][])),
        ["linux_search_content", { root: path, pattern: "x" }],
      ]),
      ...[
        "git -c alias.x=!ls x",
        "rg --pre ./evil.sh x",
        "find . -delete",
        "sort -o out a.txt",
        "ls; touch x",
        "bash -c ls",
        "./evil.sh",
        "cat /etc/passwd",
        "env ls",
        "tar cf x a.txt",
      ].map((command): [string, Record<string, unknown>] => ["run_cmd", { command }]),
      ["maasl_locks", {}],
      ["no_such_tool", {}],
      ["stat", {}],
    ];
    const outer: string[] = [];
    for (const [name, args] of table) {
      const reply = await bed.call(name, args);
      outer.push(reply.ok ? "ok" : reply.fault.code);
    }
    const audit = () =>
      readFileSync(join(bed.root, ".llmc/audit/audit.jsonl"), "utf8")
        .trim()
        .split("\n")
        .map(
          (line) =>
            JSON.parse(line) as {
              via: string;
              tool: string;
              rule: string | null;
              error_code: string | null;
              principal: string;
            },
        );
    const before = audit();
    const body = js
      ? `const codes = []; for (const [name, args] of ${JSON.stringify(table)}) { try { await tools[name](args); codes.push("ok") } catch (error) { codes.push(error.code) } } codes`
      : `import json\ncodes = []\nfor name, args in json.loads(${JSON.stringify(JSON.stringify(table))}):\n  try:\n    tools[name](args)\n    codes.append("ok")\n  except ToolError as error:\n    codes.append(error.code)\ncodes`;
    const { result, stderr } = await run(bed, language, body);
    expect(stderr).toBe("");
    expect(
      table.flatMap(([name, args], index) =>
        (result as string[])[index] === outer[index]
          ? []
          : [[name, JSON.stringify(args).slice(0, 80), outer[index], (result as string[])[index]]],
      ),
    ).toEqual([]);
    expect(outer).not.toContain("ok");
    const inner = audit()
      .slice(before.length)
      .filter(({ via }) => via === "code");
    const facts = ({ tool, rule, error_code, principal }: (typeof inner)[number]) => ({
      tool,
      rule,
      error_code,
      principal,
    });
    expect(inner.map(facts)).toEqual(before.map(facts));
  });
});

describe("code mode", () => {
  it("sends a model nothing of what its tools returned", async () => {
    await using bed = createBed({ files: { "big.txt": "secret line\n".repeat(5000) } });
    const text = await bed.text("execute_code", {
      language: "javascript",
      code: '(await tools.read_file("big.txt")).data.split("\\n").length',
    });
    expect(text).toContain("5001");
    expect(text).not.toContain("secret");
    expect(countTokens(text)).toBeLessThan(60);
  });

  it("offers the declarations as files, and an index of a line a tool within 900 tokens", async () => {
    await using bed = createBed({ files });
    expect((await bed.payload<{ data: string[] }>("list_dir", { path: ".llmc/stubs" })).data).toEqual([
      "index.md",
      "tools.d.ts",
      "tools.pyi",
    ]);
    const read = async (name: string) =>
      (await bed.payload<{ data: string }>("read_file", { path: `.llmc/stubs/${name}` })).data;
    const index = await read("index.md");
    expect(index.trim().split("\n")).toHaveLength(bed.app.mode.nested.length);
    expect(countTokens(index)).toBeLessThanOrEqual(900);
    expect(await read("tools.d.ts")).toContain("linux_fs_edit(args: {");
    expect(await read("tools.pyi")).toContain("def linux_fs_edit(self, *, path: str");
    expect(await bed.call("linux_fs_write", { path: ".llmc/stubs/index.md", content: "" })).toMatchObject({
      ok: false,
    });
  });

  it("works in every mode over stdio with the tools each lists", async () => {
    using folder = temp();
    writeFileSync(join(folder.path, "a.txt"), "x");
    for (const [mode, count] of [
      ["hybrid", 7],
      ["code_execution", 4],
    ] as const) {
      await using server = await connect(folder.path, "2025-11-25", ["--mode", mode]);
      expect((await server.client.listTools()).tools).toHaveLength(count);
      const { text } = await server.call("execute_code", {
        language: "python",
        code: 'tools.linux_fs_write(path="b.txt", content="hi")["bytes_written"]',
      });
      expect(text).toContain('"result":2');
      expect((await server.call("stat", { path: "b.txt" })).isError).toBe(false);
      expect(server.client.getInstructions()!.length).toBeLessThanOrEqual(400);
    }
  });

  it("goes only so deep", async () => {
    await using bed = createBed({ files });
    const nest = (depth: number, code: string): string =>
      depth === 0
        ? code
        : `const inner = await tools.execute_code({ language: "javascript", session_id: "none", code: ${JSON.stringify(nest(depth - 1, code))} }); if (inner.exit_code !== 0) throw new Error(inner.stderr); inner.result`;
    expect((await run(bed, "javascript", nest(1, "40 + 2"))).result).toBe(42);
    const { stderr, exit_code } = await run(bed, "javascript", nest(4, "42"));
    expect(exit_code).not.toBe(0);
    expect(stderr).toMatch(/limit_exceeded|deep/);
  });
});
