import { join } from "node:path";
import { createRoots } from "../../src/base/path/index.ts";
import { countTokens } from "../../src/core/tokens.ts";
import { createRag } from "../../src/engines/rag/index.ts";
import { ragOptions, ragSearchOptions } from "../../src/engines/rag/options.ts";
import { openStore } from "../../src/engines/rag/store.ts";

const ASKED = 300;

/** Where-used of symbols drawn evenly from all, asked of the engine as a tool asks; the floor is to read the rows of that name. */
export async function measureUses(root: string, state_dir: string): Promise<string> {
  const guard = { roots: [root], state_dir };
  const options = { rag: ragOptions.parse({ max_file_bytes: 1024 ** 2 }), search: ragSearchOptions.parse({}) };
  const rag = createRag(options, { roots: createRoots(guard), guard, state_dir, root, tokens: countTokens });
  const signal = new AbortController().signal;
  await rag.build({ force: true }, signal);
  const { files } = await rag.stats();
  const db = openStore(join(state_dir, "index.db"));
  const count = db.get<{ n: number }>("SELECT count(*) AS n FROM defs")!.n;
  const step = Math.max(1, Math.floor(count / ASKED));
  const names = db
    .all<{ name: string }>(
      "SELECT name FROM (SELECT name, row_number() OVER (ORDER BY name, file, ord) AS n FROM defs) WHERE n % ? = 0",
      step,
    )
    .map(({ name }) => name);
  const [ours, floor]: [number[], number[]] = [[], []];
  for (const [index, symbol] of names.entries()) {
    let began = performance.now();
    await rag.whereUsed({ symbol, limit: 50 }, signal);
    const took = performance.now() - began;
    began = performance.now();
    db.all("SELECT file, places FROM uses WHERE name = ?", symbol);
    if (index >= 10) {
      ours.push(took);
      floor.push(performance.now() - began);
    }
  }
  db.close();
  await rag.close();
  const at = (values: number[], share: number) => values.toSorted((a, b) => a - b)[Math.floor(values.length * share)]!;
  const line = (share: number) =>
    `p${share * 100}: ${at(ours, share).toFixed(2)} ms; its rows alone ${at(floor, share).toFixed(2)} ms, x ${(at(ours, share) / at(floor, share)).toFixed(1)}`;
  return [
    `${files} files, ${count} definitions, ${names.length} symbols asked for`,
    ...[0.5, 0.95, 0.99].map(line),
  ].join("\n");
}
