import { spawnSync } from "node:child_process";

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
  ["tests", ["vitest", "run", "--silent=passed-only"]],
];

const only = process.argv[2];
for (const [name, [command, ...args]] of steps) {
  if (only !== undefined && only !== name) continue;
  console.log(`\n== ${name}`);
  const started = performance.now();
  const { status, signal } = spawnSync(command!, args, { stdio: "inherit" });
  if (status !== 0) {
    console.error(`\n${name} failed (${signal ?? `exit ${status}`}). Alone: npm test -- "${name}"`);
    process.exit(1);
  }
  console.log(`   ${((performance.now() - started) / 1000).toFixed(1)} s`);
}
