import { describe, expect, it } from "vitest";
import { fc } from "../../../tests/harness/random.ts";
import { createCapture } from "./capture.ts";
import { readJunit } from "./junit.ts";
import { createRing } from "./ring.ts";

const texts = fc.array(fc.string({ unit: "grapheme", maxLength: 12 }), { maxLength: 30 });

/** Cuts bytes at arbitrary places, also inside characters. */
function chunked(text: string, size: number): Buffer[] {
  const bytes = Buffer.from(text);
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) => bytes.subarray(at * size, (at + 1) * size));
}

describe("a captured stream", () => {
  it("is itself when it fits, and its two ends when it does not", () => {
    fc.assert(
      fc.property(texts, fc.integer({ min: 2, max: 80 }), fc.integer({ min: 1, max: 9 }), (parts, max, size) => {
        const text = parts.join("");
        const capture = createCapture(max);
        for (const chunk of chunked(text, size)) capture.push(chunk);
        const bytes = Buffer.byteLength(text);
        expect(capture.bytes).toBe(bytes);
        expect(capture.truncated).toBe(bytes > max);
        if (bytes <= max) expect(capture.text()).toBe(text);
        if (bytes <= max) return;
        const [first, last] = capture.text().split(/\n\[\.\.\. \d+ bytes left out \.\.\.\]\n/);
        expect(text.startsWith(first!)).toBe(true);
        expect(text.endsWith(last!)).toBe(true);
        expect(Buffer.byteLength(first! + last!)).toBeLessThanOrEqual(max);
      }),
    );
  });
});

describe("a ring of output", () => {
  it("gives every byte once to a reader that keeps its place", () => {
    fc.assert(
      fc.property(texts, fc.integer({ min: 4, max: 40 }), fc.integer({ min: 1, max: 9 }), (parts, page, size) => {
        const text = parts.join("");
        const ring = createRing(1 << 20);
        let seen = "";
        let at = 0;
        for (const chunk of chunked(text, size)) {
          ring.push(chunk);
          const { text: piece, next, dropped } = ring.read(at, page, false);
          expect(dropped).toBe(0);
          seen += piece;
          at = next;
        }
        for (let rounds = 0; at < ring.end && rounds < 1000; rounds++) {
          const { text: piece, next } = ring.read(at, page, true);
          seen += piece;
          at = next;
        }
        expect(seen).toBe(text);
      }),
    );
  });

  it("forgets the oldest, and says how much", () => {
    const ring = createRing(100);
    for (let line = 0; line < 1000; line++) ring.push(Buffer.from(`${String(line).padStart(9, "0")}\n`));
    const { text, next, dropped } = ring.read(0, 1 << 20, true);
    expect(next).toBe(10_000);
    expect(dropped + text.length).toBe(10_000);
    expect(text.length).toBeGreaterThanOrEqual(100);
    expect(text.length).toBeLessThanOrEqual(125);
    expect(text.endsWith("000000999\n")).toBe(true);
  });

  it("does not stand still on what is no text", () => {
    const ring = createRing(100);
    ring.push(Buffer.from([0xff, 0xfe, 0xf0, 0x90]));
    let at = 0;
    for (let rounds = 0; rounds < 10 && at < 4; rounds++) at = ring.read(at, 4, true).next;
    expect(at).toBe(4);
  });
});

describe("a report of pytest", () => {
  it("is read without being fooled by what tests print", () => {
    const xml = `<?xml version="1.0"?><testsuites><testsuite><testcase classname="t.test_a" name="test_x[&lt;testcase&gt;]" file="t/test_a.py" line="4"><failure message="m &amp; n">t/test_a.py:9: E
E   assert 1 == 2&#10;
t/test_a.py:12: AssertionError</failure></testcase><testcase name="ok"/><testcase name="s"><skipped/></testcase>
<testcase name="out"><system-out><![CDATA[<testcase name="fake"><failure/></testcase>]]></system-out></testcase></testsuite></testsuites>`;
    const report = readJunit(xml);
    expect(report).toMatchObject({ passed: 2, failed: 1, skipped: 1, errors: 0 });
    expect(report.failures[0]).toMatchObject({
      id: "t/test_a.py::test_x[<testcase>]",
      line: 12,
      message: "assert 1 == 2",
    });
  });

  it("answers any text with a report", () => {
    const unit = fc.constantFrom(
      "<testcase ",
      'name="a"',
      ">",
      "/>",
      "</testcase>",
      "<failure",
      "</failure>",
      "&lt;",
      "&#x110000;",
      "&",
      "<![CDATA[",
      "]]>",
      "\n",
      "x",
    );
    fc.assert(
      fc.property(fc.array(unit, { maxLength: 40 }), (parts) => {
        expect(readJunit(parts.join("")).passed).toBeGreaterThanOrEqual(0);
      }),
      { numRuns: 1000 },
    );
  });

  it("takes time in proportion to its length, whatever the tests wrote into it", () => {
    for (const piece of [
      "<testcase ",
      "<testcase a",
      "<testcase><failure ",
      "<![CDATA[",
      "aaaa",
      "<testcase/><failure>",
      "&lt",
    ]) {
      const xml = `<testcase name="${piece.repeat(200_000)}`;
      expect(readJunit(xml).failed).toBe(0);
      expect(readJunit(`<testcase>${piece.repeat(200_000)}</testcase>`).failed).toBeLessThan(2);
    }
  });
});
