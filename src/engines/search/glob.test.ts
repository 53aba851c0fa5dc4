import { describe, expect, it } from "vitest";
import { fc } from "../../../tests/harness/random.ts";
import { Fault } from "../../base/fault.ts";
import { compileGlob } from "./glob.ts";

/** glob, what it must match, what it must not. */
const TABLE: readonly (readonly [string, readonly string[], readonly string[]])[] = [
  ["*.ts", ["a.ts", "x/y/b.ts", ".ts"], ["a.tsx", "a.ts/b"]],
  ["?.c", ["a.c", "d/a.c"], ["ab.c", ".c"]],
  ["src/*.ts", ["src/a.ts"], ["src/d/a.ts", "x/src/a.ts"]],
  ["src/**", ["src/a", "src/d/e/f"], ["a", "xsrc/a"]],
  ["src/", ["src/a", "src/d/e"], ["src2/a"]],
  ["/a.txt", ["a.txt"], ["b.txt"]],
  ["./src/a.ts", ["src/a.ts"], ["a.ts"]],
  ["**/test/**/*.py", ["test/a.py", "x/test/y/z/a.py"], ["tests/a.py", "test/a.pyc"]],
  ["a/**/b", ["a/b", "a/x/b", "a/x/y/b"], ["a/bc", "b"]],
  ["*.{ts,js}", ["a.ts", "b.js"], ["a.tsx", "a.py"]],
  ["{a,b{c,d}}.x", ["a.x", "bc.x", "bd.x"], ["b.x", "abc.x"]],
  ["[a-c]?.md", ["ax.md", "c1.md"], ["dx.md", "a.md"]],
  ["[!a]*", ["b", "bc"], ["a", "ab"]],
  ["a[", ["a["], ["a"]],
  ["\\*.md", ["*.md"], ["a.md"]],
  ["!*.ts", ["a.js", "x/b.md"], ["a.ts", "x/b.ts"]],
  ["*a*b*c", ["abc", "xaxbxc", "aabbcc"], ["acb", "abcx"]],
];

describe("a glob", () => {
  it.each(TABLE)("%s matches what it says", (glob, yes, no) => {
    const compiled = compileGlob(glob, { nocase: false });
    for (const path of yes) expect(compiled.matches(path), path).toBe(true);
    for (const path of no) expect(compiled.matches(path), path).toBe(false);
  });

  it("regards case unless told not to", () => {
    expect(compileGlob("*.TS", { nocase: false }).matches("a.ts")).toBe(false);
    expect(compileGlob("*.TS", { nocase: true }).matches("a.ts")).toBe(true);
  });

  it("that names a path letter by letter matches that path", () => {
    const segment = fc
      .string({ minLength: 1, maxLength: 8 })
      .filter((name) => !/[/\0]/.test(name) && !/^\.+$/.test(name));
    fc.assert(
      fc.property(fc.array(segment, { minLength: 2, maxLength: 5 }), (segments) => {
        const path = segments.join("/");
        const glob = path.replace(/[\\*?[\]{}!,.]/g, "\\$&");
        expect(compileGlob(glob, { nocase: false }).matches(path)).toBe(true);
        expect(compileGlob(glob, { nocase: false }).matches(`${path}x`)).toBe(false);
        expect(compileGlob(`**/${glob}`, { nocase: false }).matches(`deep/er/${path}`)).toBe(true);
      }),
    );
  });

  it("with too many alternatives is refused", () => {
    expect(() => compileGlob("{a,b}".repeat(20), { nocase: false })).toThrow(Fault);
  });

  it("tells the plain names its matches have", () => {
    expect(compileGlob("src/**/*.{ts,tsx}", { nocase: false }).names).toEqual(["*.ts", "*.tsx"]);
    expect(compileGlob("src/**", { nocase: false }).names).toBeUndefined();
    expect(compileGlob("!*.ts", { nocase: false }).names).toBeUndefined();
    expect(compileGlob("[ab].ts", { nocase: false }).names).toBeUndefined();
  });
});
