import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { type Contender, open } from "../lib/contender.ts";
import type { NextStep, Operations } from "../peers/types.ts";

export interface OperationRow {
  readonly name: string;
  /** Tokens of the answer. */
  readonly tokens: Readonly<Record<string, number | undefined>>;
}

const SOURCE = Array.from(
  { length: 200 },
  (_, n) => `  const value${n} = compute("row ${n}", { index: ${n}, total: 200 });\n`,
).join("");
const OPERATIONS: readonly (readonly [string, (on: Operations) => NextStep[] | undefined])[] = [
  ["stat", (on) => on.stat?.("src/a.ts")],
  ["read 200 lines of source", (on) => on.readLines?.("src/a.ts", 0, 200)],
  ["list 100 entries", (on) => on.list?.("many")],
  ["search, 30 hits", (on) => on.search?.("needle", 0)],
  ["write a file", (on) => on.write?.("new.txt", "one line\n")],
  ["edit a line", (on) => on.replace?.("src/edit.ts", "before", "after", 1)],
  ["a command, one line", (on) => on.run?.("wc -l src/a.ts")],
  ["a test run of 2,000 lines", (on) => on.run?.("node tests.mjs")],
  ["a file that is not there", (on) => on.read?.("gone.ts")],
];

/** What comes back for the same request, in tokens: requests differ little, answers much. */
export async function measureOperations(
  contenders: readonly Contender[],
  wrap: readonly string[],
): Promise<OperationRow[]> {
  const rows = OPERATIONS.map(([name]) => ({ name, tokens: {} as Record<string, number | undefined> }));
  for (const contender of contenders) {
    const root = mkdtempSync(join(tmpdir(), "llmc-operations-"));
    try {
      writeTree(root);
      await using session = await open(contender, root, wrap);
      for (const [index, [, ask]] of OPERATIONS.entries()) {
        const steps = ask(session.operations);
        rows[index]!.tokens[contender.name] = steps && countTokens((await session.play(steps)).text);
      }
    } finally {
      rmSync(root, { recursive: true, force: true });
    }
  }
  return rows;
}

function writeTree(root: string): void {
  for (const name of [".git", "src", "many", "hits"]) mkdirSync(join(root, name));
  writeFileSync(join(root, "src/a.ts"), SOURCE);
  writeFileSync(join(root, "src/edit.ts"), `${SOURCE}// before\n`);
  for (let n = 0; n < 100; n++) writeFileSync(join(root, `many/module-${n}.ts`), "");
  for (let n = 0; n < 30; n++)
    writeFileSync(join(root, `hits/part${n}.ts`), `const x = 1;\nconst needle${n} = ${n};\n`);
  writeFileSync(
    join(root, "tests.mjs"),
    'console.log("TAP version 13"); for (let n = 1; n <= 1996; n++) console.log((n === 700 ? "not ok " : "ok ") + n + " - case " + n + (n === 700 ? "\\n  ---\\n  message: no price for pear\\n  ..." : "")); console.log("1..1996"); process.exitCode = 1;\n',
  );
}
