import { Fault } from "../../base/fault.ts";

const MAX_COMMAND = 128 * 1024;

/** What a shell would do with it, and what to do here instead. */
const OPERATORS: readonly (readonly [RegExp, string, string])[] = [
  [/^2?>&[12]|^&>>?/, "redirection", "stdout and stderr both come back; drop the redirection."],
  [/^\|\|/, "`||`", "Run one command per call and look at exit_code."],
  [
    /^\|/,
    "a pipe",
    "Run the first command alone: long output is kept behind a handle. Or use a flag of the command itself.",
  ],
  [/^&&|^;/, "a command list", "Run one command per call; use cwd instead of cd."],
  [/^&/, "a background job", "Use linux_proc_start."],
  [/^>/, "output redirection", "Use linux_fs_write with the output."],
  [/^<</, "a here document", "Pass the text as stdin."],
  [/^</, "input redirection", "Pass the text as stdin, or name the file as an argument."],
  [/^[()]/, "a subshell", "Quote the parenthesis if it is meant literally."],
  [/^\n/, "a second line", "Run one command per call."],
];

/** Words of a command line by the quoting rules of sh, with no shell behind it: what only a shell could do is an error that says so. */
export function splitCommand(text: string): string[] {
  if (text.length > MAX_COMMAND)
    throw new Fault("invalid_args", "The command is longer than 128 KiB.", { hint: "Pass long text as stdin." });
  if (text.includes("\0")) throw new Fault("invalid_args", "The command holds a NUL character.");
  const words: string[] = [];
  let word: string | undefined;
  let bare = "";
  const end = () => {
    if (word === undefined) return;
    refuseBare(bare, words);
    words.push(word);
    word = undefined;
    bare = "";
  };

  const source = text.trim();
  for (let at = 0; at < source.length; at++) {
    const char = source[at]!;
    if (char === " " || char === "\t") {
      end();
      continue;
    }
    if (char === "'") {
      const close = source.indexOf("'", at + 1);
      if (close < 0) throw unclosed("'");
      word = (word ?? "") + source.slice(at + 1, close);
      at = close;
      continue;
    }
    if (char === '"') {
      const quoted = doubleQuoted(source, at + 1);
      word = (word ?? "") + quoted.text;
      at = quoted.close;
      continue;
    }
    if (char === "\\") {
      if (source[at + 1] === undefined) throw new Fault("invalid_args", "The command ends in a backslash.");
      if (source[at + 1] !== "\n") word = (word ?? "") + source[at + 1];
      at++;
      continue;
    }
    refuseOperator(source, at, word === undefined);
    word = (word ?? "") + char;
    bare += char;
  }
  end();
  if (words.length === 0) throw new Fault("invalid_args", "The command is empty.");
  return words;
}

function doubleQuoted(source: string, from: number): { text: string; close: number } {
  let text = "";
  for (let at = from; at < source.length; at++) {
    const char = source[at]!;
    if (char === '"') return { text, close: at };
    if (char === "\\" && /["\\$`\n]/.test(source[at + 1] ?? "")) {
      if (source[++at] !== "\n") text += source[at];
      continue;
    }
    if (expands(source, at)) throw noShell("an expansion", "Use single quotes if it is meant literally.");
    text += char;
  }
  throw unclosed('"');
}

function refuseOperator(source: string, at: number, atStart: boolean): void {
  const rest = source.slice(at, at + 4);
  if (atStart && /^2>/.test(rest)) throw noShell("redirection", "stderr comes back by itself; drop the redirection.");
  for (const [pattern, what, instead] of OPERATORS) if (pattern.test(rest)) throw noShell(what, instead);
  if (expands(source, at))
    throw noShell("an expansion", "Write the value itself; use single quotes if it is meant literally.");
  if (atStart && source[at] === "#") throw noShell("a comment", "Leave it out, or quote it.");
}

/** `$x`, `${x}`, `$(x)` and backticks; a lone `$`, as at the end of a regular expression, is itself. */
function expands(source: string, at: number): boolean {
  if (source[at] === "`") return true;
  return source[at] === "$" && /[A-Za-z_{(0-9@*#?$!'"-]/.test(source[at + 1] ?? "") && !/["']/.test(source[at + 1]!);
}

/** `bare` is the unquoted part of the word that is about to end. */
function refuseBare(bare: string, before: readonly string[]): void {
  if (before.length === 0 && /^[A-Za-z_][A-Za-z0-9_]*=/.test(bare))
    throw noShell("a variable assignment", "The environment is fixed; use a flag of the command.");
  if (bare.startsWith("~")) throw noShell("`~`", "Paths are relative to the root; write them out.");
  const isFlag = bare.startsWith("-") || (before.at(-1) ?? "").startsWith("-");
  if (!isFlag && /[*?]|\[.*\]/.test(bare))
    throw noShell("a file pattern", "Name the files, use find or rg --files -g, or quote it if it is meant literally.");
}

function noShell(what: string, instead: string): Fault {
  return new Fault("invalid_args", `There is no shell here, and ${what} needs one.`, {
    hint: instead,
    rule: "no shell",
  });
}

function unclosed(quote: string): Fault {
  return new Fault("invalid_args", `A ${quote} is not closed.`, {
    hint: "Pass argv instead of command to avoid quoting.",
  });
}
