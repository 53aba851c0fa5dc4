import { describe, expect, it } from "vitest";
import { fc } from "../../../tests/harness/random.ts";
import { chunkFile } from "./chunk.ts";
import { createParser } from "./parse.ts";
import { linesOf } from "./store.ts";

const parser = createParser();

async function chunks(path: string, text: string) {
  return (await chunkFile(path, text, linesOf(text), parser)).chunks;
}

/** A body long enough that what holds it is opened. */
const filler = (indent: string, comment: string) => `${indent}${comment} work\n`.repeat(30);

/** In each language: a file in which `alpha` stands inside `Outer` where there is such a thing, and `beta` beside it. */
const SAMPLES: Readonly<Record<string, string>> = {
  "a.ts": `/** Says it. */\nexport class Outer {\n  @log\n  alpha() {\n${filler("    ", "//")}  }\n}\n\nexport const beta = () => {\n${filler("  ", "//")}};\n`,
  "a.tsx": `export class Outer {\n  alpha() {\n${filler("    ", "//")}  }\n}\nexport function beta() {\n${filler("  ", "//")}  return <p />;\n}\n`,
  "a.js": `class Outer {\n  alpha() {\n${filler("    ", "//")}  }\n}\nfunction beta() {\n${filler("  ", "//")}}\n`,
  "a.py": `class Outer:\n    @property\n    def alpha(self):\n${filler("        ", "#")}        return 1\n\n\ndef beta():\n${filler("    ", "#")}    return 2\n`,
  "a.go": `package a\n\ntype Outer struct{}\n\nfunc (o *Outer) alpha() {\n${filler("\t", "//")}}\n\nfunc beta() {\n${filler("\t", "//")}}\n`,
  "a.rs": `struct Outer;\nimpl Outer {\n    fn alpha(&self) {\n${filler("        ", "//")}    }\n}\nfn beta() {\n${filler("    ", "//")}}\n`,
  "A.java": `class Outer {\n  void alpha() {\n${filler("    ", "//")}  }\n  void beta() {\n${filler("    ", "//")}  }\n}\n`,
  "a.c": `struct Outer { int x; };\nint alpha(void) {\n${filler("  ", "//")}  return 1;\n}\nstatic int *beta(int n) {\n${filler("  ", "//")}  return 0;\n}\n`,
  "a.cpp": `class Outer {\n public:\n  void alpha() {\n${filler("    ", "//")}  }\n};\nint beta() {\n${filler("  ", "//")}  return 1;\n}\n`,
  "a.cs": `namespace N {\n  class Outer {\n    void alpha() {\n${filler("      ", "//")}    }\n    int beta() {\n${filler("      ", "//")}      return 1;\n    }\n  }\n}\n`,
  "a.rb": `class Outer\n  def alpha\n${filler("    ", "#")}  end\nend\n\ndef beta\n${filler("  ", "#")}end\n`,
  "a.php": `<?php\nclass Outer {\n  function alpha() {\n${filler("    ", "//")}  }\n}\nfunction beta() {\n${filler("  ", "//")}}\n`,
  "a.sh": `alpha() {\n${filler("  ", "#")}  true\n}\n\nbeta() {\n${filler("  ", "#")}  true\n}\n`,
  "a.css": `.alpha {\n${"  color: red;\n".repeat(30)}}\n\n.beta {\n${"  color: blue;\n".repeat(30)}}\n`,
  "a.md": `# Outer\n\n## alpha\n\n${"words\n".repeat(30)}\n## beta\n\n${"words\n".repeat(30)}`,
};

describe("chunks", () => {
  it.each(Object.keys(SAMPLES))("of %s begin at definitions and carry their names", async (path) => {
    const found = await chunks(path, SAMPLES[path]!);
    const symbolOf = (name: string) => found.find((one) => one.names.some((each) => each.includes(name)))?.symbol;
    expect(symbolOf("alpha")).toMatch(/alpha$/);
    expect(symbolOf("beta")).toMatch(/beta$/);
    expect(symbolOf("alpha")).not.toBe(symbolOf("beta"));
  });

  it("keep comments and decorators with what they speak of", async () => {
    const [first, second] = await chunks("a.ts", SAMPLES["a.ts"]!);
    expect(first).toMatchObject({ start: 0, names: expect.arrayContaining(["Outer"]) });
    expect(linesOf(SAMPLES["a.ts"]!)[(second ?? first)!.start]).toMatch(/@log|Says it|alpha/);
  });

  it("name what encloses them", async () => {
    const found = await chunks("a.py", SAMPLES["a.py"]!);
    expect(found.map((one) => one.symbol)).toContain("Outer.alpha");
  });

  it("are not cut in fenced code of a document", async () => {
    const text = `# One\n\n\`\`\`sh\n# not a heading\n\`\`\`\n${"x\n".repeat(40)}`;
    const found = await chunks("a.md", text);
    expect(new Set(found.map((one) => one.symbol))).toEqual(new Set(["One"]));
  });

  it.each(Object.keys(SAMPLES))("of %s are all of the file, in order, however it is mangled", async (path) => {
    const lines = SAMPLES[path]!.split("\n");
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof(fc.constantFrom(...lines), fc.string({ maxLength: 30 })), { maxLength: 200 }),
        async (some) => {
          const text = some.join("\n");
          const count = linesOf(text).length;
          let at = 0;
          for (const one of await chunks(path, text)) {
            expect(one.start).toBe(at);
            expect(one.end).toBeGreaterThanOrEqual(one.start);
            at = one.end;
          }
          expect(at).toBe(count);
        },
      ),
      { numRuns: 25 },
    );
  });
});
