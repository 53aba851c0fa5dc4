import { afterAll, describe, expect, it } from "vitest";
import { Fault } from "../../base/fault.ts";
import { createSandboxBed } from "./test-sandbox.ts";

const bed = createSandboxBed();
afterAll(() => bed[Symbol.asyncDispose]());

describe("python", () => {
  it("gives the value of the last expression, what was printed, and nothing more", async () => {
    expect(await bed.once("print('hi')\n[1, {'a': None}]", "python")).toMatchObject({
      stdout: "hi\n",
      stderr: "",
      exit_code: 0,
      result: [1, { a: null }],
      session_id: null,
      files_changed: [],
    });
    expect((await bed.once("{1, 2}", "python")).result).toBe("{1, 2}");
    expect((await bed.once("float('nan')", "python")).result).toBe("nan");
    expect((await bed.once("x = 1", "python")).result).toBeNull();
  });

  it("tells of an error with the user's own frames only", async () => {
    const { stderr, exit_code } = await bed.once("import json\ndef f():\n    json.loads('{')\nf()", "python");
    expect(exit_code).toBe(1);
    expect(stderr).toContain('File "<cell 1>", line 3, in f');
    expect(stderr).toContain("json.loads('{')");
    expect(stderr).toMatch(/JSONDecodeError: /);
    expect(stderr).not.toMatch(/decoder\.py|_start|exec\(/);
    expect((await bed.once("def x(:\n", "python")).stderr).toMatch(/SyntaxError/);
    expect(await bed.once("raise SystemExit(3)", "python")).toMatchObject({ exit_code: 3 });
  });

  it("says what can be imported when an import fails", async () => {
    expect((await bed.once("import numpy", "python")).stderr).toContain("Only the standard library");
  });

  it("has chance and time, different in every run", async () => {
    const runs = await Promise.all(
      Array.from({ length: 4 }, () => bed.once("import random, uuid\n[random.random(), str(uuid.uuid4())]", "python")),
    );
    expect(new Set(runs.map(({ result }) => JSON.stringify(result))).size).toBe(4);
    const { result } = await bed.once("import time\ntime.time()", "python");
    expect(Math.abs(Number(result) - Date.now() / 1000)).toBeLessThan(60);
  });

  it("leaves nothing of one stateless run to the next", async () => {
    await bed.once(
      "import builtins, sys, json\nbuiltins.leak = 1\njson.leak = 2\nopen('f', 'w').write('x')\nleak2 = 3",
      "python",
    );
    const code =
      "import builtins, json, os\n[hasattr(builtins, 'leak'), hasattr(json, 'leak'), os.listdir('.'), 'leak2' in globals()]";
    expect((await bed.once(code, "python")).result).toEqual([false, false, [], false]);
  });

  it("reads an empty standard input", async () => {
    expect((await bed.once("import sys\nsys.stdin.read()", "python")).result).toBe("");
  });
});

describe("javascript and typescript", () => {
  it("gives the value of the last expression, awaits at the top level and prints like a console", async () => {
    const { stdout, result } = await bed.once(
      "console.log('a', {b: [1, 'c']}, new Map([[1, 2]])); await Promise.resolve(1) + 1",
      "javascript",
    );
    expect(stdout).toBe("a { b: [ 1, 'c' ] } Map(1) { 1 => 2 }\n");
    expect(result).toBe(2);
    expect((await bed.once("setTimeout(() => console.log('late'), 5); 1", "javascript")).stdout).toBe("late\n");
  });

  it("takes types away, and translates what is more than a type", async () => {
    const code = "interface P { a: number }\nenum E { A = 4 }\nconst p: P = { a: E.A };\np.a as number";
    expect((await bed.once(code, "typescript")).result).toBe(4);
    expect((await bed.once("const x: = 1", "typescript")).stderr).toMatch(/SyntaxError/);
  });

  it("imports the libraries that come with it, and says what there is when one is missing", async () => {
    const code =
      "import Papa from 'papaparse';\nimport { parse } from 'smol-toml';\nimport * as stats from 'simple-statistics';\n[Papa.parse('a,b').data[0], parse('x = 1').x, stats.mean([1, 3])]";
    expect((await bed.once(code, "javascript")).result).toEqual([["a", "b"], 1, 2]);
    const { stderr } = await bed.once("import x from 'left-pad'", "javascript");
    expect(stderr).toMatch(/Cannot find "left-pad". There are: .*dayjs/);
  });

  it("tells of errors with the user's own frames, and of promises nobody waits for", async () => {
    const { stderr, exit_code } = await bed.once("function f() { throw new TypeError('no') }\nf()", "javascript");
    expect(exit_code).toBe(1);
    expect(stderr).toBe("TypeError: no\n    at f (cell 1:1:26)\n    at <eval> (cell 1:2:1)\n");
    expect((await bed.once("Promise.reject(new Error('lost')); 1", "javascript")).stderr).toContain("Error: lost");
    expect((await bed.once("await new Promise(() => {})", "javascript")).stderr).toContain("never settles");
  });

  it("leaves nothing of one stateless run to the next, and chance differs", async () => {
    await bed.once("globalThis.leak = 1; Array.prototype.leak = 2; const c = 3", "javascript");
    const { result } = await bed.once("[typeof leak, typeof [].leak, typeof c]", "javascript");
    expect(result).toEqual(["undefined", "undefined", "undefined"]);
    const [a, b] = [await bed.once("Math.random()", "javascript"), await bed.once("Math.random()", "javascript")];
    expect(a.result).not.toBe(b.result);
  });
});

describe("the workspace", () => {
  it.each([
    [
      "python",
      "import os\nos.makedirs('d')\nopen('d/a.txt', 'w').write('one')\nopen('/workspace/b', 'wb').write(b'\\x00\\xff')",
    ],
    [
      "javascript",
      "import fs from 'node:fs'; fs.mkdirSync('d'); fs.writeFileSync('d/a.txt', 'one'); fs.writeFileSync('/workspace/b', new Uint8Array([0, 255]))",
    ],
  ] as const)("names files that %s made, with their contents", async (language, code) => {
    const { files_changed, contents, exit_code } = await bed.once(code, language);
    expect(exit_code).toBe(0);
    expect(files_changed).toEqual([
      { path: "d/a.txt", bytes: 3 },
      { path: "b", bytes: 2 },
    ]);
    expect(Buffer.from(contents).toString("latin1")).toBe("one\0\xff");
  });

  it("behaves like a file system", async () => {
    const python = `
import os, shutil, pathlib
p = pathlib.Path("a/b"); p.mkdir(parents=True)
(p / "c.txt").write_text("hello\\nworld\\n")
os.rename("a/b/c.txt", "a/d.txt")
with open("a/d.txt", "r+") as f:
    f.seek(6); f.write("W"); f.truncate(8)
with open("a/d.txt", "a") as f:
    f.write("!")
found = sorted(str(x) for x in pathlib.Path(".").rglob("*"))
text = open("a/d.txt").read()
shutil.rmtree("a")
errors = []
for act in (lambda: open("nope"), lambda: os.rmdir("nope"), lambda: os.mkdir("../../x") or os.listdir("/x")):
    try:
        act()
    except OSError as e:
        errors.append(type(e).__name__)
[found, text, os.listdir(), errors]`;
    const [found, text, left, errors] = (await bed.once(python, "python")).result as unknown[];
    expect(found).toEqual(["a", "a/b", "a/d.txt"]);
    expect(text).toBe("hello\nWo!");
    expect(left).toEqual([]);
    expect(errors).toEqual(["FileNotFoundError", "FileNotFoundError", "FileNotFoundError"]);
  });
});

describe("tools from code", () => {
  const callTool = async (name: string, args: Record<string, unknown>) => {
    if (name === "fails") throw new Fault("file_not_found", "No such file.", { hint: "Look elsewhere." });
    return { name, args };
  };
  const more = { callTool, tool_names: ["echo", "fails"] };

  it("are plain calls in Python, with native values and exceptions", async () => {
    const code = `
a = tools.echo({"x": 1}, y=[True, None, "ü"])
try:
    tools.fails()
except ToolError as e:
    b = [e.code, e.message, e.hint]
[a, b, dir(tools)]`;
    const { result, tool_calls } = await bed.once(code, "python", more);
    expect(result).toEqual([
      { name: "echo", args: { x: 1, y: [true, null, "ü"] } },
      ["file_not_found", "No such file.", "Look elsewhere."],
      ["echo", "fails"],
    ]);
    expect(tool_calls).toEqual({ echo: 1, fails: 1 });
  });

  it("are awaitable in JavaScript, and run side by side", async () => {
    let most = 0;
    let active = 0;
    const slow = async (_name: string, args: Record<string, unknown>) => {
      most = Math.max(most, ++active);
      await new Promise((resolve) => setTimeout(resolve, 5));
      active--;
      return args["i"];
    };
    const code = "await Promise.all(Array.from({ length: 40 }, (_, i) => tools.slow({ i })))";
    const { result, tool_calls } = await bed.once(code, "javascript", { callTool: slow, tool_names: ["slow"] });
    expect(result).toEqual(Array.from({ length: 40 }, (_, i) => i));
    expect(tool_calls).toEqual({ slow: 40 });
    expect(most).toBeGreaterThan(1);
    expect(most).toBeLessThanOrEqual(16);
    const caught = "try { await tools.fails() } catch (e) { [e.name, e.code, e.hint, Object.keys(tools)] }";
    expect((await bed.once(caught, "javascript", more)).result).toEqual([
      "ToolError",
      "file_not_found",
      "Look elsewhere.",
      ["echo", "fails"],
    ]);
  });

  it("carry large and odd values whole, and refuse what is too large", async () => {
    const big = async (_name: string, args: Record<string, unknown>) => "é\0\u{1f600}".repeat(Number(args["n"]));
    const size = 400_000;
    const python = `s = tools.big(n=${size})\n[len(s), s[:3] == "é\\0😀"]`;
    expect((await bed.once(python, "python", { callTool: big })).result).toEqual([size * 3, true]);
    const js = `const s = await tools.big({ n: ${size} }); [s.length, s.startsWith("é\\0😀")]`;
    expect((await bed.once(js, "javascript", { callTool: big })).result).toEqual([size * 4, true]);
    const over = "try { await tools.big({ n: 2000000 }) } catch (e) { e.code }";
    expect((await bed.once(over, "javascript", { callTool: big })).result).toBe("file_too_large");
  });

  it("are not there without a bridge; what has no name goes under the empty one", async () => {
    expect((await bed.once("tools.echo()", "python")).stderr).toContain("unknown_tool");
    for (const [language, code] of [
      ["python", "tools.echo(1, 2)"],
      ["javascript", "await tools.echo(1, 2)"],
    ] as const)
      expect((await bed.once(code, language, more)).result).toEqual({ name: "echo", args: { "": [1, 2] } });
  });
});

it("lists runtimes with their level and packages from what is there", async () => {
  const runtimes = await bed.sandbox.runtimes();
  expect(runtimes.map(({ language }) => language)).toEqual(["javascript", "typescript", "python"]);
  expect(["process", "bwrap"]).toContain(runtimes[0]!.isolation);
  const packages = await bed.sandbox.packages();
  const names = (language: string) => packages.filter((item) => item.language === language).map(({ name }) => name);
  expect(names("javascript")).toEqual(["dayjs", "diff", "papaparse", "simple-statistics", "smol-toml", "yaml"]);
  expect(names("python")).toEqual(expect.arrayContaining(["json", "sqlite3", "zlib"]));
  const imports = names("python").map((name) => `import ${name}`);
  const tried = await bed.once(
    `import warnings\nwarnings.simplefilter("ignore")\n${imports.filter((line) => !/antigravity|this$/.test(line)).join("\n")}`,
    "python",
  );
  expect(tried).toMatchObject({ exit_code: 0, stderr: "" });
});
