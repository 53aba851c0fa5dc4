import { describe, expect, it } from "vitest";
import { fc } from "../../../tests/harness/random.ts";
import { Fault } from "../../base/fault.ts";
import { splitCommand } from "./split.ts";
import { quoted } from "./terminal.ts";

describe("splitting a command", () => {
  it.each([
    ["ls -la src", ["ls", "-la", "src"]],
    ["  rg  'a b'  \"c d\"  e\\ f ", ["rg", "a b", "c d", "e f"]],
    [`echo 'it'"'"'s'`, ["echo", "it's"]],
    ["echo '' \"\"", ["echo", "", ""]],
    ['rg "a\\"b\\$c" x', ["rg", 'a"b$c', "x"]],
    ["rg foo$ src", ["rg", "foo$", "src"]],
    ["find . -name *.ts -not -path */x/*", ["find", ".", "-name", "*.ts", "-not", "-path", "*/x/*"]],
    ["rg -g *.{ts,js} x", ["rg", "-g", "*.{ts,js}", "x"]],
    ["find . ! -name a", ["find", ".", "!", "-name", "a"]],
    ["rg 'a;b|c>d&&$(e)`f`' .", ["rg", "a;b|c>d&&$(e)`f`", "."]],
    ["rg a\\;b", ["rg", "a;b"]],
    ["grep a#b x", ["grep", "a#b", "x"]],
  ])("%s", (text, words) => {
    expect(splitCommand(text)).toEqual(words);
  });

  it.each([
    ["ls; touch x", "command list"],
    ["ls && touch x", "command list"],
    ["ls || x", "||"],
    ["ls | wc", "pipe"],
    ["ls & ", "background"],
    ["echo $(id)", "expansion"],
    ["echo `id`", "expansion"],
    ['echo "$(id)"', "expansion"],
    ['echo "`id`"', "expansion"],
    ["echo $HOME", "expansion"],
    ["echo ${HOME}", "expansion"],
    ["echo hi > x", "redirection"],
    ["echo hi >> x", "redirection"],
    ["echo hi>x", "redirection"],
    ["pytest 2>&1", "redirection"],
    ["pytest 2>/dev/null", "redirection"],
    ["cat < x", "input"],
    ["cat << EOF", "here document"],
    ["ls\ntouch x", "second line"],
    ["(ls)", "subshell"],
    ["ls src/*.ts", "file pattern"],
    ["ls file[12]", "file pattern"],
    ["cat ~/x", "`~`"],
    ["A=1 ls", "variable"],
    ["ls # all", "comment"],
  ])("refuses %j and says what needs a shell", (text, what) => {
    expect(() => splitCommand(text)).toThrow(
      expect.objectContaining({
        code: "invalid_args",
        message: expect.stringContaining(what),
        hint: expect.any(String),
      }),
    );
  });

  it.each(["", "   ", "echo 'a", 'echo "a', "echo a\\", "a\0b"])("refuses %j", (text) => {
    expect(() => splitCommand(text)).toThrow(Fault);
  });

  it("gives back what was quoted, whatever it is", () => {
    const word = fc.string({ unit: "binary" }).filter((text) => !text.includes("\0"));
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 6 }), (words) => {
        const text = words.map(quoted).join(" ");
        expect(splitCommand(text)).toEqual(words);
      }),
    );
  });

  it("answers any text with words or with a Fault, never otherwise", () => {
    const unit = fc.constantFrom(..."ab -=\"'\\$`;|&<>(){}*?[]~#!\n\t".split(""));
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 40 }), (text) => {
        try {
          const words = splitCommand(text);
          expect(words.length).toBeGreaterThan(0);
        } catch (error) {
          expect(error).toBeInstanceOf(Fault);
        }
      }),
      { numRuns: 2000 },
    );
  });
});
