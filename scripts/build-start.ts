import { basename } from "node:path";
import { type BuildResult, build, type Metafile, type Plugin } from "esbuild";

type Files = Map<string, string>;
type Outputs = Readonly<Record<string, Metafile["outputs"][string]>>;

/**
 * A bundle that is cut at lazy imports falls into dozens of pieces, and a start that needs forty of them pays for forty files. What
 * a start always loads together is put together here: each of the `heads` takes in the pieces that it imports, and of those only
 * names for parts of it are left. What other processes load too (`strangers`: workers, a sandbox's child) stays apart: they must
 * not load a server.
 */
export async function joinStart(
  { outputFiles, metafile }: BuildResult<{ write: false; metafile: true }>,
  heads: readonly string[],
  strangers: readonly string[],
): Promise<Files> {
  const outputs: Outputs = Object.fromEntries(
    Object.entries(metafile.outputs).map(([path, output]) => [basename(path), output]),
  );
  const files: Files = new Map(outputFiles.map(({ path, text }) => [basename(path), text]));
  const pieceOf = (source: string) => Object.keys(outputs).find((name) => outputs[name]!.entryPoint === source)!;
  const apart = new Set(strangers.flatMap((source) => [...closure(pieceOf(source), outputs, true)]));
  const names = new Set<string>();
  for (const head of heads.map(pieceOf)) {
    const parts = [...closure(head, outputs, false)].filter((name) => !apart.has(name) && !names.has(name));
    const whole = await joined(head, parts, files, outputs, names);
    for (const name of parts) files.set(name, name === head ? whole : reexport(name, head, outputs));
    for (const name of parts) if (name !== head) names.add(name);
  }
  return files;
}

/** The pieces that are loaded with this one; `lazily`: also those that may be later. */
function closure(name: string, outputs: Outputs, lazily: boolean, seen = new Set<string>()): Set<string> {
  if (seen.has(name) || !outputs[name]) return seen;
  seen.add(name);
  for (const { path, kind } of outputs[name].imports)
    if (lazily || kind === "import-statement") closure(basename(path), outputs, lazily, seen);
  return seen;
}

/** Names in the joined file: its own exports as they were, those of a part with the part's name before them. */
function exportsOf(name: string, head: string, outputs: Outputs): { inner: string; outer: string }[] {
  const prefix = name === head ? "" : `${name.replace(/\W/g, "_")}_`;
  return outputs[name]!.exports.map((inner) => ({ inner, outer: `${prefix}${inner}` }));
}

function reexport(name: string, head: string, outputs: Outputs): string {
  const pairs = exportsOf(name, head, outputs).map(({ inner, outer }) => `${outer} as ${inner}`);
  return `export{${pairs.join(",")}}from"./${head}";\n`;
}

async function joined(
  head: string,
  parts: readonly string[],
  files: Files,
  outputs: Outputs,
  names: ReadonlySet<string>,
): Promise<string> {
  const inMemory: Plugin = {
    name: "in-memory",
    setup(builder) {
      builder.onResolve({ filter: /^\.\// }, ({ path, kind }) => {
        const name = basename(path);
        const isPart = kind === "import-statement" && (parts.includes(name) || names.has(name));
        return isPart ? { path: name, namespace: "piece" } : { path, external: true };
      });
      builder.onLoad({ filter: /.*/, namespace: "piece" }, ({ path }) => ({
        contents: files.get(path)!,
        loader: "js",
      }));
    },
  };
  const lines = parts.map((name) => {
    const pairs = exportsOf(name, head, outputs).map(({ inner, outer }) => `${inner} as ${outer}`);
    return `export{${pairs.join(",")}}from"./${name}";`;
  });
  const result = await build({
    stdin: { contents: lines.join("\n"), loader: "js", resolveDir: "." },
    bundle: true,
    minify: true,
    format: "esm",
    platform: "node",
    target: "node22.18",
    external: ["@vscode/ripgrep"],
    write: false,
    plugins: [inMemory],
    logLevel: "warning",
  });
  return result.outputFiles[0]!.text;
}
