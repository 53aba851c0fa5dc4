import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

export const SHARED = "src/limits.ts";
export const EDITS = 40;
const TESTS = 2000;
const FAILING = new Set([412, 958, 1733]);

/** A small shop: 24 modules, a vendored package that is full of the same words, and tests of which three fail. */
export function writeDemoProject(root: string): void {
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  write(".gitignore", "node_modules\n");
  write("README.md", "# Shop\n\nSells things. Orders are retried when the bank is slow.\n");
  write("src/net/retry.ts", RETRY);
  write(SHARED, Array.from({ length: EDITS }, (_, index) => `export const LIMIT_${two(index)} = 0;\n`).join(""));
  for (let index = 0; index < 24; index++) write(`src/parts/part${two(index)}.ts`, part(index));
  for (let index = 0; index < 60; index++) write(`node_modules/http-kit/lib/retry-${two(index)}.js`, vendored(index));
  write("scripts/run-tests.mjs", TEST_SCRIPT);
}

const RETRY = `import { sleep } from "../parts/part00.ts";

/** Waits longer after every failure, up to half a minute, and never at the same moment as everyone else. */
export function retryDelay(attempt: number, base = 100): number {
  const exponential = base * 2 ** attempt;
  const jitter = Math.random() * base;
  return Math.min(30_000, exponential + jitter);
}

export async function withRetries<T>(work: () => Promise<T>, attempts = 4): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (attempt >= attempts) throw error;
      await sleep(retryDelay(attempt));
    }
  }
}
`;

function part(index: number): string {
  const lines = Array.from(
    { length: 40 },
    (_, line) => `export const step_${index}_${line} = (input: number) => input * ${line} + ${index};`,
  );
  lines.splice(
    7 + index,
    0,
    ...Array.from(
      { length: index % 4 },
      (_, todo) => `// TODO(${["ada", "grace", "linus"][todo]}): bound step ${todo}`,
    ),
  );
  return `${index === 0 ? "export const sleep = (ms: number) => new Promise((done) => setTimeout(done, ms));\n" : ""}${lines.join("\n")}\n`;
}

function vendored(index: number): string {
  return Array.from(
    { length: 12 },
    (_, line) => `exports.retry${index}_${line} = (retry) => retry.delay(${line}, retry.attempts);\n`,
  ).join("");
}

const TEST_SCRIPT = `const failing = new Set(${JSON.stringify([...FAILING])});
console.log("TAP version 13");
for (let index = 1; index <= ${TESTS}; index++) {
  const bad = failing.has(index);
  console.log(\`\${bad ? "not ok" : "ok"} \${index} - orders: case \${index} is charged once and only once\`);
  if (bad) console.log(\`  ---\\n  message: expected \${index} to equal \${index + 1}\\n  at: src/parts/part\${String(index % 24).padStart(2, "0")}.ts:\${index % 40}\\n  ...\`);
}
console.log("1..${TESTS}");
process.exitCode = 1;
`;

export function two(index: number): string {
  return String(index).padStart(2, "0");
}

/** Every file of the tree, as a server without an index and without ignore rules walks it. */
export function everyFile(root: string, below = ""): { path: string; text: string }[] {
  return readdirSync(join(root, below), { withFileTypes: true }).flatMap((entry) => {
    const path = join(below, entry.name);
    if (entry.isDirectory()) return entry.name === ".llmc" ? [] : everyFile(root, path);
    return [{ path, text: readFileSync(join(root, path), "utf8") }];
  });
}
