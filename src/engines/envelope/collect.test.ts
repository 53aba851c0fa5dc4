import { describe, expect, it } from "vitest";
import { fc } from "../../../tests/harness/random.ts";
import { createCollector } from "./collect.ts";
import { shorten } from "./digest.ts";

function collected(text: string, step = 65536) {
  const collector = createCollector();
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += step) collector.push(bytes.subarray(at, at + step));
  return { ...collector.end(), bytes: collector.bytes };
}

const line = (n: number) => `step ${n} of the build went as it should, and this is all there is to say about it\n`;

describe("a collector", () => {
  it("keeps all of what is not too long, wherever it is cut", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 500 }), fc.integer({ min: 1, max: 9 }), (text, step) => {
        const well = text.toWellFormed();
        const { text: kept, condensed, lines } = collected(well, step);
        expect(kept).toBe(well);
        expect(condensed).toBe(false);
        expect(lines).toBe(well === "" ? 0 : well.replace(/\n$/, "").split("\n").length);
      }),
    );
  });

  it("keeps of a flood its beginning, its end, and trouble with what follows it", () => {
    const parts: string[] = [];
    for (let n = 0; n < 120_000; n++) {
      parts.push(line(n));
      if (n === 60_000) parts.push("not ok 60000 - the one that fails\n  message: 'no price for pear'\n");
    }
    const flood = collected(parts.join(""));
    expect(flood.condensed).toBe(true);
    expect(flood.lines).toBe(120_002);
    expect(flood.text.length).toBeLessThan(3 * 1024 * 1024);
    expect(flood.text.startsWith(line(0))).toBe(true);
    expect(flood.text.endsWith(line(119_999))).toBe(true);
    expect(flood.text).toContain("not ok 60000 - the one that fails\n  message: 'no price for pear'\n");
  });

  it("finds every failure of a flood, also one that is cut in two by a block's end", () => {
    const failures = Array.from({ length: 9 }, (_, n) => 10_000 + n * 12_345);
    const parts: string[] = [];
    for (let n = 1; n <= 120_000; n++)
      parts.push(
        failures.includes(n)
          ? `not ok ${n} - case ${n}\n  ---\n  message: 'lost ${n}'\n  ...\n`
          : `ok ${n} - ${line(n)}`,
      );
    for (const step of [4093, 65536]) {
      const { text, lines, condensed } = collected(parts.join(""), step);
      const ran = { argv: ["node", "run.mjs"], stdout: text, stderr: "", exit_code: 1, lines, condensed };
      const { stdout, match_count } = shorten(ran, 8000);
      expect(match_count).toBe(9);
      for (const n of failures) expect(stdout).toContain(`lost ${n}`);
    }
  });

  it("is not undone by one endless line", () => {
    const { condensed, lines, text } = collected("x".repeat(8 * 1024 * 1024));
    expect({ condensed, lines }).toEqual({ condensed: true, lines: 1 });
    expect(text.length).toBeLessThan(4 * 1024 * 1024);
  });
});

describe("shortening", () => {
  const words = fc.constantFrom(
    "ok 1 - a",
    "not ok 2 - b",
    "FAILED a::b - c",
    "E   x",
    "--- FAIL: T (",
    "a.ts(1,2): error TS1: x",
    "● a › b",
    "Test Suites: 1 failed",
    "src/a.ts:3:mint",
    "commit abcdef1",
    "diff --git a/x b/x",
    "@@ -1 +1 @@",
    "plain words",
    "",
    "  ---",
    "<testsuite",
    '<testcase name="a"><failure',
    "test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out",
  );
  const command = fc.constantFrom("node", "grep", "git", "find", "ls", "cat", "npm", "make", "constructor");

  it("never throws, never grows, and says the same of the same", () => {
    fc.assert(
      fc.property(
        command,
        fc.constantFrom("log", "diff", "status", "show", "blame", "install", "x.ts"),
        fc.array(words, { maxLength: 60 }),
        fc.array(words, { maxLength: 20 }),
        fc.integer({ min: 0, max: 2 }),
        fc.integer({ min: 300, max: 2000 }),
        (name, verb, out, err, exit_code, room) => {
          const stdout = `${out.join("\n")}\n`.repeat(6);
          const ran = {
            argv: [name, verb],
            stdout,
            stderr: err.join("\n"),
            exit_code,
            lines: out.length,
            condensed: false,
          };
          const short = shorten(ran, room);
          expect(short.stdout.length + short.stderr.length).toBeLessThanOrEqual(
            Math.max(ran.stdout.length + ran.stderr.length, room) + 400,
          );
          expect(shorten(ran, room)).toEqual(short);
        },
      ),
    );
  });

  it("shows the end of a log whose failures it does not recognise", () => {
    const stdout = `${"all is well here\n".repeat(2000)}the widget could not be turned: code 17\n`;
    const { stdout: short } = shorten(
      { argv: ["make"], stdout, stderr: "", exit_code: 2, lines: 2001, condensed: false },
      4000,
    );
    expect(short).toContain("the widget could not be turned: code 17");
    expect(short.length).toBeLessThan(4500);
  });

  it("says so when a runner counts more failures than it shows", () => {
    const stdout = `${"ok\n".repeat(400)}=== FAILURES ===\n____ test_a ____\nE   assert 1 == 2\n\na.py:3: AssertionError\n=== 2 failed in 0.10s ===\n`;
    const { stdout: short } = shorten(
      { argv: ["pytest"], stdout, stderr: "", exit_code: 1, lines: 400, condensed: false },
      4000,
    );
    expect(short).toContain("assert 1 == 2");
    expect(short).toContain("Not every failure was recognised");
  });

  it("lets short output through as it is, without colours", () => {
    const ran = {
      argv: ["make"],
      stdout: "\x1b[31mred\x1b[0m\n10%\r100%\n",
      stderr: "",
      exit_code: 0,
      lines: 2,
      condensed: false,
    };
    expect(shorten(ran, 8000)).toEqual({ stdout: "red\n100%\n", stderr: "", kind: undefined, match_count: undefined });
  });

  it("gives the outline of a long source", () => {
    const body = Array.from(
      { length: 400 },
      (_, n) => `export function step${n}(x: number) {\n  return x + ${n};\n}\n`,
    ).join("");
    const { stdout } = shorten(
      { argv: ["cat", "src/steps.ts"], stdout: body, stderr: "", exit_code: 0, lines: 1200, condensed: false },
      8000,
    );
    expect(stdout).toContain("src/steps.ts: 1200 lines");
    expect(stdout).toContain("4: export function step1(x: number) {");
    expect(stdout.length).toBeLessThan(8000);
  });
});
