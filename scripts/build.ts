import { chmodSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { basename, join } from "node:path";
import { build, type Plugin } from "esbuild";
import { GRAMMARS } from "../src/engines/rag/languages.ts";
import { buildSandbox, copyNewer } from "./build-sandbox.ts";
import { joinStart } from "./build-start.ts";
import { lowerUsing } from "./build-using.ts";

/**
 * Node's modules, taken from the process instead of imported: an ES import of one reads every property it has (and so starts
 * streams and loads cryptography that a start does not need). Each file that takes one has its own line for that: one that all
 * share would be a piece of the bundle, and a file to open at every start.
 */
const builtins: Plugin = {
  name: "builtins",
  setup(builder) {
    const names = new Set(builtinModules);
    const importers = new Map<string, number>();
    builder.onResolve({ filter: /^[\w:/]+$/ }, ({ path, importer }) => {
      const name = path.replace(/^node:/, "");
      if (!names.has(name) && !names.has(`node:${name}`)) return undefined;
      if (!importers.has(importer)) importers.set(importer, importers.size);
      return { path: `${importers.get(importer)}?node:${name}`, namespace: "builtin", sideEffects: false };
    });
    builder.onLoad({ filter: /.*/, namespace: "builtin" }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule("${path.split("?")[1]}")`,
      loader: "js",
    }));
  },
};

const OTHER_PROCESSES = {
  "sandbox-child": "src/engines/sandbox/child/main.ts",
  "rag-worker": "src/engines/rag/worker.ts",
  "rag-outline": "src/engines/rag/outline/worker.ts",
};

/** One bundle, cut where code is loaded lazily. What has a binary of its own stays a dependency. */
const result = await build({
  entryPoints: { main: "src/main.ts", ...OTHER_PROCESSES },
  outdir: "dist",
  outExtension: { ".js": ".mjs" },
  chunkNames: "[name]-[hash]",
  bundle: true,
  splitting: true,
  minify: true,
  format: "esm",
  platform: "node",
  target: "node22.18",
  metafile: true,
  write: false,
  external: ["@vscode/ripgrep"],
  // The protocol library would load a JSON schema validator that a server without elicitation never uses.
  // The other would be taken in the form that requires its parts by name, which a bundle cannot.
  alias: {
    "@modelcontextprotocol/server/_shims": "./src/transports/sdk-shims.ts",
    "jsonc-parser": "./node_modules/jsonc-parser/lib/esm/main.js",
  },
  inject: ["scripts/using-helpers.ts"],
  plugins: [builtins, lowerUsing],
  logLevel: "warning",
});
const pieces = await joinStart(result, ["src/process.ts", "src/cli/serve.ts"], Object.values(OTHER_PROCESSES));
mkdirSync("dist", { recursive: true });
for (const [name, text] of pieces) writeFileSync(join("dist", name), text);

/** te starts for every command: one file and no modules to link, so that a start costs little more than Node's own. */
const te = await build({
  entryPoints: { te: "src/te.ts" },
  outdir: "dist",
  outExtension: { ".js": ".cjs" },
  bundle: true,
  minify: true,
  format: "cjs",
  platform: "node",
  target: "node22.18",
  metafile: true,
  external: ["@vscode/ripgrep"],
  banner: {
    js: 'const __url = "file://" + __filename.replaceAll("%", "%25").replaceAll("#", "%23").replaceAll("?", "%3F");',
  },
  define: { "import.meta.url": "__url" },
  inject: ["scripts/using-helpers.ts"],
  plugins: [builtins, lowerUsing],
  logLevel: "warning",
});
// Old pieces go after the new ones are there: a server that starts meanwhile finds all it names.
const made = { ...result.metafile.outputs, ...te.metafile.outputs };
const written = new Set(Object.keys(made).map((path) => basename(path)));
written.add("sandbox");
written.add("grammars");
copyGrammars("dist/grammars");
await buildSandbox("dist/sandbox");
for (const name of readdirSync("dist")) if (!written.has(name)) rmSync(join("dist", name), { recursive: true });
for (const bin of ["bin/llmc", "bin/te"]) chmodSync(bin, 0o755);
const outputs = Object.entries(made).sort(([, a], [, b]) => b.bytes - a.bytes);
const bytes = outputs.reduce((sum, [, output]) => sum + output.bytes, 0);
console.error(`dist: ${outputs.length} files, ${(bytes / 1024).toFixed(0)} KB`);
if (process.argv.includes("--sizes"))
  for (const [name, output] of outputs) console.error(`${String(output.bytes).padStart(9)} ${name}`);

/** The grammars that the index parses with, and the machine that runs them. */
function copyGrammars(folder: string): void {
  mkdirSync(folder, { recursive: true });
  for (const name of ["web-tree-sitter.js", "web-tree-sitter.wasm"])
    copyNewer(`node_modules/web-tree-sitter/${name}`, join(folder, name));
  for (const grammar of GRAMMARS)
    copyNewer(
      `node_modules/@vscode/tree-sitter-wasm/wasm/tree-sitter-${grammar}.wasm`,
      join(folder, `tree-sitter-${grammar}.wasm`),
    );
}
