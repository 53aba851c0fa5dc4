import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Tree, Parser as TreeParser } from "web-tree-sitter";
import type { Language } from "./languages.ts";

export interface Parser {
  /** The tree of a text; the caller deletes it. Nothing when the language has no grammar. */
  parse(text: string, language: Language): Promise<Tree | undefined>;
}

/** Long enough for a megabyte of ordinary source; a text made to be slow is cut by lines instead. */
const MAX_PARSE_MS = 2_000;

/** Grammars are loaded when a file of their language is first met. */
export function createParser(): Parser {
  let library: Promise<typeof import("web-tree-sitter")> | undefined;
  const parsers = new Map<string, Promise<TreeParser>>();

  async function start(): Promise<typeof import("web-tree-sitter")> {
    // By its file: the library looks for itself, and in a bundle it would not find itself.
    const file = pathToFileURL(runtimeFile("web-tree-sitter.js")).href;
    const loaded = (await import(file)) as typeof import("web-tree-sitter");
    await loaded.Parser.init({ wasmBinary: readFileSync(runtimeFile("web-tree-sitter.wasm")) });
    return loaded;
  }

  async function load(grammar: string): Promise<TreeParser> {
    library ??= start();
    const { Parser, Language } = await library;
    const parser = new Parser();
    parser.setLanguage(await Language.load(readFileSync(runtimeFile(`tree-sitter-${grammar}.wasm`))));
    return parser;
  }

  return {
    async parse(text, { grammar }) {
      if (grammar === undefined) return undefined;
      let loading = parsers.get(grammar);
      if (!loading) parsers.set(grammar, (loading = load(grammar)));
      const parser = await loading;
      const end = performance.now() + MAX_PARSE_MS;
      const tree = parser.parse(text, undefined, { progressCallback: () => performance.now() > end });
      // A parse that was broken off would go on with the next text.
      if (!tree) parser.reset();
      return tree ?? undefined;
    },
  };
}

/** Beside the bundle when built, in its package when run from source. */
function runtimeFile(name: string): string {
  const beside = join(dirname(fileURLToPath(import.meta.url)), "grammars", name);
  if (existsSync(beside)) return beside;
  const require = createRequire(import.meta.url);
  if (name.startsWith("web-")) return join(dirname(require.resolve("web-tree-sitter/web-tree-sitter.wasm")), name);
  return join(dirname(require.resolve("@vscode/tree-sitter-wasm/package.json")), "wasm", name);
}
