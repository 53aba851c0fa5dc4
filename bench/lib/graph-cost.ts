import { readFileSync } from "node:fs";
import { join } from "node:path";
import { factsOf } from "../../src/engines/rag/graph/extract.ts";
import { specOf } from "../../src/engines/rag/graph/languages/index.ts";
import { putGraph } from "../../src/engines/rag/graph/store.ts";
import { createRules } from "../../src/engines/rag/ignored.ts";
import { languageOf } from "../../src/engines/rag/languages.ts";
import { createParser } from "../../src/engines/rag/parse.ts";
import { openStore, prepare, put } from "../../src/engines/rag/store.ts";
import { createSplitter } from "../../src/engines/rag/terms.ts";
import { walk } from "../../src/engines/rag/walk.ts";

const ROUNDS = 3;

/**
 * Every file is indexed as a whole and, in the same run, once more without the graph and the graph alone (from a tree that is
 * parsed already): the ratio is the graph's time to the rest's.
 */
export async function buildCost(root: string): Promise<string> {
  const files = [...walk({ root, state_dir: join(root, ".llmc"), rules: await createRules(root, []) })];
  const ratios: number[] = [];
  let graph = 0;
  let rest = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const [whole, alone] = [openStore(":memory:"), openStore(":memory:")];
    const [parser, splitter] = [createParser(), createSplitter()];
    graph = 0;
    let all = 0;
    let id = 0;
    for (const { path } of files) {
      const bytes = readFileSync(join(root, path));
      let began = performance.now();
      const prepared = await prepare(path, bytes, 0, parser, splitter);
      whole.transaction(() => put(whole, prepared, splitter));
      all += performance.now() - began;
      const language = languageOf(path);
      const spec = specOf(language.name);
      const tree = spec && (await parser.parse(bytes.toString("utf8"), language));
      if (!tree) continue;
      began = performance.now();
      const facts = factsOf(tree, bytes.toString("utf8"), spec);
      alone.transaction(() => putGraph(alone, ++id, path, facts));
      graph += performance.now() - began;
      tree.delete();
    }
    rest = all - graph;
    if (round > 0) ratios.push(graph / rest);
    whole.close();
    alone.close();
  }
  const ratio = ratios.toSorted((a, b) => a - b)[Math.floor(ratios.length / 2)]!;
  return `${files.length} files: the rest ${rest.toFixed(0)} ms, the graph ${graph.toFixed(0)} ms, x ${ratio.toFixed(2)} of the rest.`;
}
