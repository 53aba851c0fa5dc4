import { afterAll, describe, expect, it } from "vitest";
import { createEngine } from "./engine.ts";
import { families } from "./families.ts";

const engine = createEngine();
afterAll(() => engine[Symbol.asyncDispose]());

const STYLES = [
  { bytes: 1_000, seed: 1, newline: "\n", unicode: false },
  { bytes: 20_000, seed: 2, newline: "\r\n", unicode: true },
  { bytes: 200_000, seed: 3, newline: "\n", unicode: true },
] as const;

describe.each(STYLES)("texts of $bytes bytes, unicode $unicode", (style) => {
  it.each(families(style).map((family) => [family.name, family] as const))(
    "%s is answered right",
    async (_name, family) => {
      await using at = await engine.start({ rlm: { small_input_bytes: 0, max_calls: 1000 } });
      const { answer, stop_reason } = await at.query(family.task, family.text, { language: family.language });
      expect(answer).toBe(family.truth);
      expect(stop_reason).toBe("answer");
    },
  );
});

describe("a long text", () => {
  it("of 8 MB is answered without being sent", async () => {
    const [needle] = families({ bytes: 8_000_000, seed: 9, newline: "\n", unicode: true });
    await using at = await engine.start();
    const { answer, budget_summary } = await at.query(needle!.task, needle!.text);
    expect(answer).toBe(needle!.truth);
    expect(budget_summary.input_tokens).toBeLessThan(2_000);
  });

  it("is read in parts by runs of its own, one level deeper", async () => {
    const [needle] = families({ bytes: 60_000, seed: 4, newline: "\n", unicode: false });
    await using at = await engine.start();
    const { answer } = await at.query("Give a summary of every part of the book.", needle!.text);
    expect(answer.split(" ").length).toBeGreaterThanOrEqual(2);
    expect(answer).toContain(needle!.truth);
    await using flat = await engine.start({ rlm: { max_depth: 1 } });
    expect((await flat.query("Give a summary of every part of the book.", needle!.text)).answer).toMatch(
      /^limit_exceeded( limit_exceeded)+$/,
    );
  });
});

describe("names in both languages", () => {
  const text = `first l\u00efne\r\n\u{1f600} second\n\nlast${"x".repeat(30_000)}`;
  it.each([
    [
      "javascript",
      "[peek(0, 3), peek(13, 14), lines(2), lines(3, 9).length, line_count(), search('second')[0], search(/L\u00cfNE/i)[0].line, search('SECOND', { ignore_case: true }).length, search('s.c', { regex: true }).length, chunks(100)[1].start === chunks(100)[0].end, chunks(1000).map((c) => c.text).join('') === context]",
    ],
    [
      "python",
      "[peek(0, 3), peek(13, 14), lines(2), len(lines(3, 9)), line_count(), search('second')[0], search(__import__('re').compile('(?i)L\u00cfNE'))[0]['line'], len(search('SECOND', ignore_case=True)), len(search('s.c', regex=True)), chunks(100)[1].start == chunks(100)[0].end, ''.join(c.text for c in chunks(1000)) == context]",
    ],
  ])("cut no character and count lines alike: %s", async (language, list) => {
    const code = `\`\`\`${language}\nanswer(${list})\n\`\`\``;
    await using at = await engine.start({ script: { model: () => code } });
    const got = JSON.parse((await at.query("x", text)).answer) as unknown[];
    const emoji = "\u{1f600}";
    // JavaScript counts the emoji as two; a place in it is moved before it, so that neither half is ever seen.
    const place = language === "python" ? 14 : 15;
    const peeked = language === "python" ? " " : emoji;
    expect(got).toEqual([
      "fir",
      got[1],
      `${emoji} second\n`,
      30_005,
      4,
      { at: place, line: 2, text: `${emoji} second` },
      1,
      1,
      1,
      true,
      true,
    ]);
    expect(["", peeked, emoji]).toContain(got[1]);
  });
});
