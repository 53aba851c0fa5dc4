import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Ran } from "./types.ts";

export interface Fixture {
  readonly name: string;
  readonly argv: readonly string[];
  readonly exit_code: number;
  readonly stream: "stdout" | "stderr";
  /** At most so many tokens. */
  readonly tokens: number;
  /** Lines that carry a failure; the group is the part that says it. */
  readonly carries: readonly RegExp[];
}

function fixture(
  name: string,
  command: string,
  tokens: number,
  carries: readonly RegExp[] = [],
  more: Partial<Fixture> = {},
): Fixture {
  const exit_code = carries.length > 0 ? 1 : 0;
  return { name, argv: command.split(" "), exit_code, stream: "stdout", tokens, carries, ...more };
}

const stderr = { stream: "stderr" } as const;

const PYTEST = [
  /^(?:FAILED|ERROR) (\S+)/,
  /^(?:FAILED|ERROR) \S+ - (.*?)(?:\.{3})?$/,
  /^(\S+::\S+) (?:FAILED|ERROR)/,
  /^E +(\S.*)$/,
  /^(\w+\.py:\d+): \w+$/,
  /^_+ (?:ERROR (?:at \w+ of|collecting) )?(\S+) _+$/,
  /^=* ?(\d+ (?:failed|error).* in [\d.]+s)/,
];
const VITEST = [
  /^ FAIL {2}(.+)$/,
  /^ +× (.+?) \d+ms$/,
  /^(\w*Error: .*)$/,
  /^ ❯ (\S+:\d+):\d+$/,
  /^ +(?:Test Files|Tests) +(.*)$/,
];
/** The place of a suite, 3:1, is no failure of its own. */
const TAP = [
  /^ *not ok \d+ (?:- )?(.*)$/,
  /^ +(?:error|message): '(?!\d+ subtests)(.+)'$/,
  /^ +(?:location|at): '?(?!\S+:3:1')(\S+?:\d+)/,
  /^# (?:tests|pass|fail) (\d+)$/,
];

export const FIXTURES: readonly Fixture[] = [
  fixture("pytest-verbose", "pytest -v", 300, PYTEST),
  fixture("pytest-quiet", "python3 -m pytest -q", 300, PYTEST),
  fixture("pytest-collect", "pytest -q", 100, PYTEST.slice(3)),
  fixture("pytest-200", "pytest -q", 600, [
    /^FAILED (\S+\[\d\])/,
    /^E +(AssertionError: value \d is wrong)$/,
    /^(200 failed in .*)$/,
  ]),
  fixture("vitest-verbose", "npx vitest run", 300, VITEST),
  fixture("vitest-default", "npm test", 300, VITEST),
  fixture("jest", "npx jest", 300, [
    /^ {2}● (.+)$/,
    /^ +✕ (.+?) \(\d+ ms\)$/,
    /^ {4}(\w*Error: .*|expect\(.*|Cannot find .*|Expected: .*|Received: .*)$/,
    /^ +at (?:exports\.\w+|Object\.to\w+) \((\S+?:\d+):\d+\)$/,
    /^(?:Tests|Test Suites): +(.*)$/,
    /^FAIL (\S+)$/,
  ]),
  fixture("node-tap", "node --test", 300, TAP),
  fixture("tap", "node scripts/run-tests.mjs", 300, [
    TAP[0]!,
    /^ +(?:expected|actual): +'(.+)'$/,
    /^ +at: .*?([\w./]+:\d+):\d+\)$/,
    /^ {6}(RangeError: .*)$/,
    /^# (?:tests|pass|fail) +(\d+)$/,
  ]),
  fixture("node-spec", "node --test", 300, [
    /^ *✖ (?!failing)(.+?) \(\d/,
    /^test at (\S+?:\d+)/,
    /^ {2}(\w*Error.*)$/,
    /^ {2}(\d+ !== \d+)$/,
    /^ℹ (?:tests|pass|fail) (\d+)$/,
  ]),
  fixture("junit", "node --test --test-reporter=junit", 300, [
    /<testcase name="([^"]*)".* failure=/,
    /<failure .*message="([^"]*)"/,
    /\(file:\/\/(\/project\/a.test.mjs:\d+)/,
  ]),
  fixture("go", "go test -v ./...", 300, [
    /^ *--- FAIL: (\S+) /,
    /^ {4}cart_test\.go:\d+: (Total.*|first.*)$/,
    /^ {8}(want 2)$/,
    /^ {4}(cart_test\.go:\d+): (?:Total|first)/,
    /^FAIL\t(\S+)/,
  ]),
  fixture("go-panic", "go test ./...", 300, [
    /^ *--- FAIL: (\S+) /,
    /^ {4}cart_test\.go:\d+: (.*)$/,
    /^panic: (.*)$/,
    /^\t(\/project\/cart\/cart\.go:\d+)$/,
    /^tax\/tax\.go:\d+:\d+: (.*)$/,
    /^FAIL\t(\S+)/,
  ]),
  fixture("cargo-test", "cargo test", 300, [
    /^test (\S+) \.\.\. FAILED$/,
    /^---- (\S+) stdout ----$/,
    /panicked at (\S+?:\d+)/,
    /^(assertion .*|index out of bounds.*|no price for .*)$/,
    /^ +(?:left|right): (\d+)$/,
    /^ {4}(tests::\w+)$/,
    /^test result: FAILED\. (\d+ passed; \d+ failed)/,
  ]),
  fixture(
    "cargo-build",
    "cargo build",
    150,
    [/^error\[E\d+\]: (.*)$/, /^error\[(E\d+)\]/, /--> (\S+:\d+:\d+)$/, /^error: (could not .*)$/],
    stderr,
  ),
  fixture(
    "gcc",
    "gcc -Wall -c b.c",
    250,
    [/^\S+: (?:error|warning): (.*?)(?: \[.*)?$/, /^(\S+:\d+:\d+): (?:error|warning)/],
    stderr,
  ),
  fixture("tsc", "npx tsc --noEmit", 400, [/^\S+: error (TS\d+)/, /^\S+: error TS\d+: (.*)$/]),
  fixture("eslint-long", "npx eslint .", 1100),
  fixture("eslint", "npx eslint .", 600, [/^ +\d+:\d+ +(?:error|warning) +(.*?) {2,}/]),
  fixture("ruff", "ruff check --output-format=concise", 600, [/^\S+: \w+ (?:\[\*\] )?(.*)$/, /^\S+: (\w+) /]),
  fixture("ruff-full", "ruff check", 600, [/^(?:[A-Z]+\d+|invalid-syntax:?) (?:\[\*\] )?(.*)$/, /^ *--> (\S+)$/]),
  fixture("npm-fail", "npm install", 300, [/^npm error (?:404 +|code )(.+)$/], stderr),
  fixture("pip-fail", "pip install not-a-package-xyz", 200, [/^ERROR: (.*)$/], stderr),
  fixture("npm-install", "npm install", 300),
  fixture("npm-eresolve", "npm install", 400, [/^npm error (code .+|While .+|Found: .+|peer .+)$/], stderr),
  fixture("pip-install", "pip install -r requirements.txt", 400),
  fixture("pip-conflict", "pip install flask==2.0.0", 600, [/^ERROR: (.*)$/], stderr),
  fixture("git-log", "git log -n 60", 1500),
  fixture("git-diff", "git diff HEAD~3", 2500),
  fixture("git-show-patch", "git show HEAD", 2500),
  fixture("git-blame", "git blame src/app.ts", 1200),
  fixture("git-status", "git status", 500),
  fixture("git-status-short", "git status -s", 600),
  fixture("git-status-long", "git status", 700),
  fixture("git-status-short-long", "git status -s", 700),
  fixture("rg", "rg -n mint src", 2500),
  fixture("find", "find src -type f", 700),
  fixture("ls", "ls -laR src", 700),
];

export function ranOf({ argv, exit_code, stream }: Fixture, text: string): Ran {
  const streams = { stdout: "", stderr: "", [stream]: text };
  return { argv, exit_code, ...streams, lines: text.split("\n").length - 1, condensed: false };
}

export function logOf({ name }: Fixture): string {
  return readFileSync(fileURLToPath(new URL(`fixtures/${name}.log`, import.meta.url)), "utf8");
}
