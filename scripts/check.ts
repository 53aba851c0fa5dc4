import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const report = join(tmpdir(), `llmc-tests-${process.pid}.json`);

/** Every check there is, in the order in which a failure is cheapest to find. One command; CI runs it and nothing else. */
const steps: readonly (readonly [string, readonly string[]])[] = [
  ["system packages", ["sh", "scripts/setup-system"]],
  ["build", ["node", "scripts/build.ts"]],
  ["types", ["tsc", "-p", "."]],
  ["format and lint", ["biome", "ci", "--colors=off", "--error-on-warnings", "."]],
  ["directions", ["depcruise", "--config", ".dependency-cruiser.cjs", "--output-type", "err", "src"]],
  ["dead code", ["knip"]],
  ["generated files", ["node", "scripts/gen.ts", "--check"]],
  ["package", ["publint", "--strict"]],
  [
    "tests",
    ["vitest", "run", "--silent=passed-only", "--reporter=default", "--reporter=json", `--outputFile.json=${report}`],
  ],
];

const only = process.argv[2];
for (const [name, [command, ...args]] of steps) {
  if (only !== undefined && only !== name) continue;
  console.log(`\n== ${name}`);
  const started = performance.now();
  const { status, signal } = spawnSync(command!, args, { stdio: "inherit" });
  if (name === "tests") closingLine();
  if (status !== 0) {
    console.error(`\n${name} failed (${signal ?? `exit ${status}`}). Alone: npm test -- "${name}"`);
    process.exit(1);
  }
  console.log(`   ${((performance.now() - started) / 1000).toFixed(1)} s`);
}

/** One plain line that says how many tests there were. */
function closingLine(): void {
  if (!existsSync(report)) return;
  const { numPassedTests, numFailedTests, numPendingTests } = JSON.parse(readFileSync(report, "utf8")) as Record<
    string,
    number
  >;
  console.log(`\ntests: ${numPassedTests} passed, ${numFailedTests} failed, ${numPendingTests} skipped`);
  rmSync(report);
}
