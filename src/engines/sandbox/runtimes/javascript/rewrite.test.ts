import { describe, expect, it } from "vitest";
import { fc } from "../../../../../tests/harness/random.ts";
import { asCell } from "./rewrite.ts";

describe("a cell of a module's source", () => {
  it.each([
    ["const a = 1", "var   a = 1"],
    ["let { a, b } = c", "var { a, b } = c"],
    ["a\nconst b = 1", "a\nvar   b = 1"],
    ["class A { m() { const x = 1 } }\n[1]", "var A = class A { m() { const x = 1 } };\n[1]"],
    ["class A extends B {}", "var A = class A extends B {};"],
    ["export const a = 1", "var a = 1"],
    ["export default 4", "var exported = 4"],
    ["export function f() {}", "function f() {}"],
    ["export { a, b }", ""],
    ["import 'x'", 'await import("x");'],
    ["import a from 'x'", 'var {default: a} = __interop(await import("x"));'],
    ["import * as a from 'x';", 'var a = __interop(await import("x"));'],
    [
      'import a, { b as c, d } from "x"',
      'var {default: a} = __interop(await import("x")); var {b: c, d} = __interop(await import("x"));',
    ],
  ])("%s", (source, cell) => expect(asCell(source)).toBe(cell));

  it.each([
    "for (const a of b) { let c = a }",
    "if (x) { const y = 1 }",
    "const_ = 1; a.const = 2",
    "'const a = 1'",
    `\`\nconst a = 1\n$\{ { const: 1 } }\nlet b\``,
    "/const [/]`/.test(x)",
    "// const a\n/* let b */",
    "const x = (", // not whole: left to the engine, which says what is wrong
    "x = class { }",
    "import('x')",
    "import.meta",
    "a = b / c; d = e / f",
    "f(() => {\n  const a = 1\n})",
  ])("leaves alone what is no declaration at the top: %s", (source) => expect(asCell(source)).toBe(source));

  it("keeps the number of lines, whatever it is given", () => {
    const piece = fc.constantFrom(
      "const ",
      "let ",
      "class A ",
      "{",
      "}",
      "(",
      ")",
      "`",
      "${",
      "'",
      '"',
      "/",
      "\n",
      "a",
      "=",
      "import x from 'y'",
      "export ",
      ";",
      "//",
      "/*",
      "*/",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        const source = pieces.join("");
        expect(asCell(source).split("\n").length).toBe(source.split("\n").length);
      }),
      { numRuns: 2000 },
    );
  });
});
