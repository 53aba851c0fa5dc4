import { afterAll, describe, expect, it } from "vitest";
import type { CallTool, ExecuteResult } from "./index.ts";
import { createSandboxBed } from "./test-sandbox.ts";

const bed = createSandboxBed({ wall_s: 1 });
afterAll(() => bed[Symbol.asyncDispose]());
const signal = new AbortController().signal;
const TEXT = "a\u00e4\u{1f600}\r\nsecond needle line\nthird\n";
const callTool: CallTool = async (name, args) => ({ name, args });

async function cells(
  language: "javascript" | "python",
  codes: readonly string[],
  more: { text?: string | Uint8Array; callTool?: CallTool } = {},
): Promise<Omit<ExecuteResult, "session_id">[]> {
  const texts = { context: Buffer.from(more.text ?? TEXT) };
  const prelude = language === "python" ? "def given():\n    return 7" : "";
  const held = await bed.sandbox.hold({ language, texts, prelude, callTool: more.callTool ?? callTool, signal });
  const ran = [];
  for (const code of codes) ran.push(await held.run(code, signal));
  held.end();
  return ran;
}

describe("a held interpreter", () => {
  it.each([
    ["javascript", "context", "[...context].length"],
    ["python", "context", "len(context)"],
  ] as const)("in %s has its text as a variable, character by character", async (language, whole, length) => {
    const [text, count] = await cells(language, [whole, length]);
    expect(text!.result).toBe(TEXT);
    expect(count!.result).toBe([...TEXT].length);
  });

  it.each([
    [
      "javascript",
      ["context = 1", "const context = 2", "function context() {}", "delete globalThis.context"],
      "context.length",
    ],
    [
      "python",
      ["context = 1", "def given(): return 8", "def f():\n    global context\n    context = 1\nf()"],
      "given() + len(context)",
    ],
  ] as const)("in %s keeps its names whatever cells do to them", async (language, attempts, look) => {
    const [before, ...rest] = await cells(language, [look, ...attempts, look]);
    expect(rest.at(-1)!.result).toBe(before!.result);
    expect(rest[0]!.stderr).toContain("context is frozen");
  });

  it("keeps variables from cell to cell and shares none with another", async () => {
    const [, second] = await cells("javascript", ["const x = 5", "x + 1"]);
    expect(second!.result).toBe(6);
    expect((await cells("javascript", ["typeof x"]))[0]!.result).toBe("undefined");
  });

  it("finds hits with their lines and places, in literal text and by expression", async () => {
    const [literal, pattern, none] = await cells("javascript", [
      "__search('context', 'needle')",
      "__search('context', /^t\\w+$/)",
      "__search('context', 'absent')",
    ]);
    expect(literal!.result).toEqual([{ at: TEXT.indexOf("needle"), line: 2, text: "second needle line" }]);
    expect(pattern!.result).toEqual([{ at: TEXT.indexOf("third"), line: 3, text: "third" }]);
    expect(none!.result).toEqual([]);
  });

  it("finds what lies across pieces of a line without end, and counts right", async () => {
    const text = `${"\u00e9".repeat(32_763)}needle${"x".repeat(200_000)}needle\n`;
    const [hits] = await cells("javascript", ["__search('context', /needle/).map((hit) => [hit.at, hit.line])"], {
      text,
    });
    expect(hits!.result).toEqual([
      [text.indexOf("needle"), 1],
      [text.lastIndexOf("needle"), 1],
    ]);
  });

  it("is ended at its time, which stands still while it waits for its caller", async () => {
    const slow: CallTool = () => new Promise((resolve) => setTimeout(() => resolve("late"), 1500));
    const [waited, looped] = await cells("javascript", ["await tools.ask({})", "for (;;) {}"], { callTool: slow });
    expect(waited!.result).toBe("late");
    expect(looped!.limit?.name).toBe("time");
  });

  it("says when a text does not fit", async () => {
    await using small = createSandboxBed({ memory_mb: 64 });
    const texts = { context: Buffer.alloc(60 * 1024 * 1024, "x") };
    for (const language of ["javascript", "python"] as const)
      await expect(small.sandbox.hold({ language, texts, prelude: "", callTool, signal })).rejects.toMatchObject({
        code: "limit_exceeded",
        message: expect.stringContaining("does not fit"),
      });
  });

  it("is refused when too many are held, and there is room again when one is ended", async () => {
    await using many = createSandboxBed({ wall_s: 30 });
    const hold = () => many.sandbox.hold({ language: "javascript", texts: {}, prelude: "", callTool, signal });
    const held = [];
    while (held.length < 64) held.push(await hold());
    await expect(hold()).rejects.toMatchObject({ code: "concurrency_limited", retryable: true });
    held[0]!.end();
    held[0]!.end();
    const next = await hold();
    await expect(hold()).rejects.toMatchObject({ code: "concurrency_limited" });
    for (const one of [next, ...held]) one.end();
    (await hold()).end();
  });
});
