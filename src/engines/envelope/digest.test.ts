import { encode } from "gpt-tokenizer/encoding/o200k_base";
import { describe, expect, it } from "vitest";
import { shorten } from "./digest.ts";
import { FIXTURES, type Fixture, logOf, ranOf } from "./test-fixtures.ts";

const ROOM = 8000;

function digestOf(fixture: Fixture, log: string): string {
  const { stdout, stderr } = shorten(ranOf(fixture, log), ROOM);
  return stderr === "" ? stdout : `${stdout}[stderr]\n${stderr}`;
}

describe.each(FIXTURES)("the digest of $name", (fixture) => {
  const log = logOf(fixture);
  const digest = digestOf(fixture, log);

  it("is as it was, and costs what it may", async () => {
    const tokens = encode(digest).length;
    expect(tokens).toBeLessThanOrEqual(fixture.tokens);
    const head = `${tokens} tokens of ${encode(log).length}\n\n`;
    await expect(head + digest).toMatchFileSnapshot(`fixtures/${fixture.name}.digest`);
  });

  it.runIf(fixture.carries.length > 0)("changes with every line that carries a failure", () => {
    const lines = log.split("\n");
    let changed = 0;
    for (const [index, line] of lines.entries())
      for (const carries of fixture.carries) {
        const part = carries.exec(line)?.[1];
        if (part === undefined) continue;
        const mutant = [...lines];
        mutant[index] = line.replace(part, mutated(part));
        expect(digestOf(fixture, mutant.join("\n")), `line ${index + 1}: ${line}`).not.toBe(digest);
        changed++;
      }
    expect(changed).toBeGreaterThan(0);
  });
});

/** Another number, or another word in its beginning. */
function mutated(part: string): string {
  if (/^\d+$/.test(part)) return String(Number(part) + 7);
  if (/:\d+$/.test(part)) return part.replace(/\d+$/, (line) => String(Number(line) + 7));
  if (/^\d+ /.test(part)) return part.replace(/^\d+/, (count) => String(Number(count) + 7));
  const at = Math.min(2, part.length);
  return `${part.slice(0, at)}Zq${part.slice(at)}`;
}

it("tells of a thousand lines that differ in their numbers only as much as of a few", () => {
  const log = Array.from(
    { length: 1000 },
    (_, n) => `[build] compiled packages/part${n}/src/index.ts in ${n % 7} ms\n`,
  ).join("");
  const { stdout } = shorten(
    { argv: ["make"], stdout: `${log}[build] done\n`, stderr: "", exit_code: 0, lines: 1001, condensed: false },
    ROOM,
  );
  expect(stdout).toContain("part0/");
  expect(stdout).toContain("part999/");
  expect(stdout).toContain("[build] done");
  expect(encode(stdout).length).toBeLessThan(220);
});
