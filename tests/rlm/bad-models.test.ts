import { existsSync } from "node:fs";
import { afterAll, describe, expect, it } from "vitest";
import { LONG, writes } from "./bed.ts";
import { createEngine } from "./engine.ts";

const engine = createEngine({ wall_s: 1 });
afterAll(() => engine[Symbol.asyncDispose]());
const task = "Whatever.";

/** What the model reads after its first turn. */
async function outputOf(code: string, language = "javascript"): Promise<string> {
  await using at = await engine.start({ script: { model: writes(code, language) } });
  await at.code(task, LONG, { max_turns: 2 });
  return at.server.seen.findLast(({ chat }) => chat.prompt.startsWith("Output:"))?.chat.prompt ?? "";
}

describe("a bad model", () => {
  it("that never answers is ended after its turns", async () => {
    await using at = await engine.start({ script: { model: writes("print(1)") } });
    expect(await at.code(task, LONG, { max_turns: 3 })).toBe("limit_exceeded");
    expect(at.server.seen).toHaveLength(3);
  });

  it("that writes no code is told so; its text is never the answer", async () => {
    await using at = await engine.start({ script: { model: () => "The answer is 42. FINAL(42)\n```json\n{}\n```" } });
    expect(await at.code(task, LONG, { max_turns: 2 })).toBe("limit_exceeded");
    expect(at.server.seen[1]!.chat.prompt).toContain("no code block");
  });

  it("that floods sub-calls is stopped at the number of calls", async () => {
    const code = "for (;;) await Promise.allSettled(Array.from({ length: 50 }, () => llm_query('x')));";
    await using at = await engine.start({ script: { model: writes(code) }, rlm: { max_calls: 30 } });
    expect(await at.code(task, LONG, { max_turns: 2 })).toBe("limit_exceeded");
    expect(at.server.seen.length).toBeLessThanOrEqual(30);
  });

  it.each([
    ["javascript", "answer = () => 1; llm_query = 5; context = 'short';"],
    ["javascript", "Object.defineProperty(globalThis, 'answer', { value: 1 })"],
    ["javascript", "function answer() {}"],
    ["python", "answer = print"],
    ["python", "def llm_query(p): return 'mine'"],
    ["python", "del context"],
  ])("that overwrites names is told, and they still work (%s: %s)", async (language, code) => {
    let turn = 0;
    const script = {
      model: () =>
        `\`\`\`${language}\n${turn++ === 0 ? code : language === "python" ? "answer(len(context))" : "answer(context.length)"}\n\`\`\``,
    };
    await using at = await engine.start({ script });
    expect((await at.query(task, LONG)).answer).toBe(String(LONG.length));
    expect(at.server.seen[1]!.chat.prompt).toMatch(/frozen|not configurable|cannot (re)?define|Error/);
  });

  it.each([
    ["javascript", "for (let i = 0; i < 1000; i++) print('x'.repeat(100000));"],
    ["python", "for i in range(1000): print('x' * 100000)"],
  ])("that prints 100 MB reads a little of it (%s)", async (language, code) => {
    const output = await outputOf(code, language);
    expect(output.length).toBeLessThan(9_000);
    expect(output).toContain("characters left out");
  });

  it("that loops for ever loses its interpreter, not the run", async () => {
    let turn = 0;
    const script = {
      model: () => `\`\`\`javascript\n${turn++ === 0 ? "const kept = 1; for (;;) {}" : "answer(typeof kept)"}\n\`\`\``,
    };
    await using at = await engine.start({ script });
    expect((await at.query(task, LONG)).answer).toMatch(/undefined|number/);
    expect(at.server.seen[1]!.chat.prompt).toContain("[time]");
  });

  it("that asks for a forbidden model gets a typed error in its slot, and nothing is sent", async () => {
    const code =
      "answer([await llm_query('x', { model: 'openai/gpt-4o' }).catch((error) => error.code), await llm_query_batch(['y'], { model: 'evil/m' })])";
    await using at = await engine.start({ script: { model: writes(code) } });
    const [single, [slot]] = JSON.parse((await at.query(task, LONG)).answer) as [
      string,
      [{ error: { code: string; hint: string } }],
    ];
    expect(single).toBe("egress_denied");
    expect(slot.error).toMatchObject({ code: "egress_denied", hint: expect.any(String) });
    expect(at.server.seen).toHaveLength(1);
  });

  it.each([
    [
      "javascript",
      "print(typeof tools, typeof process, typeof fetch, typeof __search, require('fs').existsSync('/etc/passwd'))",
      "undefined undefined undefined undefined false",
    ],
    [
      "python",
      "import os\nprint(os.path.exists('/etc/passwd'), 'tools' in globals(), dict(os.environ).keys() - {'HOME', 'TMPDIR'})",
      "False False set()",
    ],
    [
      "python",
      "import socket\ntry:\n    socket.create_connection(('127.0.0.1', 80))\nexcept Exception as e:\n    print('no network')",
      "no network",
    ],
    ["javascript", "try { require('child_process') } catch (error) { print('no programs') }", "no programs"],
  ])("that tries files, network and tools finds none (%s)", async (language, code, expected) => {
    expect(await outputOf(code, language)).toContain(expected);
    expect(existsSync("/tmp/llmc-rlm-marker")).toBe(false);
  });

  it("that calls functions of the bridge by hand reaches only those of a run", async () => {
    const code =
      "print(await (async () => { try { return await llm_query.constructor('return this')().tools?.read_file({ path: 'x' }) ?? 'nothing there' } catch (error) { return error.code } })())";
    expect(await outputOf(code)).toMatch(/nothing there|unknown_tool/);
  });

  it("that answers twice has answered once, and what follows is not waited for", async () => {
    const code = "answer('first'); answer('second'); for (;;) {}";
    await using at = await engine.start({ script: { model: writes(code) } });
    expect((await at.query(task, LONG)).answer).toBe("first");
  });

  it("that answers with an object, nothing or too much", async () => {
    for (const [code, answer] of [
      ["answer({ a: [1, null] })", '{"a":[1,null]}'],
      ["answer()", "null"],
    ] as const) {
      await using at = await engine.start({ script: { model: writes(code) } });
      expect((await at.query(task, LONG)).answer).toBe(answer);
    }
    expect(await outputOf("await answer('x'.repeat(2000000))")).toContain("invalid_args");
  });
});
