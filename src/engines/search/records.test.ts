import { describe, expect, it } from "vitest";
import { fc } from "../../../tests/harness/random.ts";
import { shownLine } from "./cut.ts";
import { createRecords, type LineRecord } from "./records.ts";
import { judge } from "./run.ts";

const names = fc.string({ minLength: 1, maxLength: 12 }).map((name) => `./${name.replaceAll("\0", "x")}`);
const lines = fc.record({
  path: names,
  line: fc.nat(),
  match: fc.integer({ min: -1, max: 60 }),
  offset: fc.nat(),
  text: fc.string({ maxLength: 80 }).map((text) => text.replaceAll("\n", " ").replaceAll("\0", "0")),
});

function printed({
  path,
  line,
  match,
  offset,
  text,
}: {
  path: string;
  line: number;
  match: number;
  offset: number;
  text: string;
}) {
  return match === -1 ? `${path}\0${line}-${offset}-${text}\n` : `${path}\0${line}:${match + 1}:${offset}:${text}\n`;
}

function parse(chunks: readonly Buffer[]): LineRecord[] {
  const records: LineRecord[] = [];
  const parser = createRecords({ before: 30, after: 30 }, (record) => records.push(record));
  for (const chunk of chunks) parser.push(chunk);
  return records;
}

describe("records", () => {
  it("are the same however the output is cut", () => {
    fc.assert(
      fc.property(
        fc.array(lines, { maxLength: 12 }),
        fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1 }),
        (given, cuts) => {
          const output = Buffer.from(given.map(printed).join(""));
          const chunks: Buffer[] = [];
          for (let at = 0, next = 0; at < output.length; next++) {
            const size = cuts[next % cuts.length]!;
            chunks.push(output.subarray(at, at + size));
            at += size;
          }
          const records = parse(chunks);
          expect(
            records.map((record) => ({ ...record, path: record.path.toString(), text: record.text.toString() })),
          ).toEqual(
            given.map(({ path, line, match, offset, text }) => {
              const bytes = Buffer.from(text);
              const from = Math.max(0, match - 30);
              const kept = bytes.subarray(from, Math.max(0, match) + 30).toString();
              return { path, line, match, offset, text: kept, from, length: bytes.length };
            }),
          );
        },
      ),
    );
  });

  it("pass over the notice that a file is binary", () => {
    const output =
      './a\x001:1:0:x\n./a: WARNING: stopped searching binary file after match (found "\\0" byte around offset 9)\n./b\x002:1:0:y\n';
    expect(parse([Buffer.from(output)]).map((record) => `${record.path}:${record.line}`)).toEqual(["./a:1", "./b:2"]);
  });
});

describe("a long line", () => {
  const record = (text: string, match: number): LineRecord => ({
    path: Buffer.from("./a"),
    line: 1,
    match,
    offset: 0,
    text: Buffer.from(text),
    from: 0,
    length: Buffer.byteLength(text),
  });

  it("keeps the match in sight wherever it is", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 300 }), fc.string({ maxLength: 300 }), (before, after) => {
        const clean = before.replaceAll("NEEDLE", "");
        const shown = shownLine(record(`${clean}NEEDLE${after}`, Buffer.byteLength(clean)), 60);
        expect(shown).toContain("NEEDLE");
        expect(shown.length).toBeLessThanOrEqual(62);
      }),
    );
  });
});

describe("what ripgrep complains about", () => {
  it("is counted when files could not be read, but not when they are gone", () => {
    const stderr = "rg: ./a: Permission denied (os error 13)\nrg: ./b: No such file or directory (os error 2)\n";
    expect(judge({ code: 2, stderr, stopped: false })).toEqual({ unreadable: 1 });
    expect(judge({ code: 1, stderr: "", stopped: false })).toEqual({ unreadable: 0 });
  });
});
