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
  const lines = [`${files} files, ${count} definitions`];
  // Every symbol alike, and every definition alike: names that are common come up more often then.
  for (const [what, from] of [
    ["symbols", "SELECT DISTINCT symbol AS name FROM defs ORDER BY 1"],
    ["definitions", "SELECT symbol AS name FROM defs ORDER BY 1"],
  ] as const) {
    const names = drawn(db.all<{ name: string }>(from).map(({ name }) => name));
    const [ours, cpu, floor]: [number[], number[], number[]] = [[], [], []];
    for (const symbol of names) {
      const used = process.threadCpuUsage();
      let began = performance.now();
      await rag.whereUsed({ symbol, limit: 50 }, signal);
      ours.push(performance.now() - began);
      const { user, system } = process.threadCpuUsage(used);
      cpu.push((user + system) / 1000);
      began = performance.now();
      db.all("SELECT file, places FROM uses WHERE name = ?", symbol.slice(symbol.lastIndexOf(".") + 1));
      floor.push(performance.now() - began);
    }
    for (const share of [0.5, 0.95, 0.99])
      lines.push(
        `${names.length} ${what}, p${share * 100}: ${at(ours, share).toFixed(2)} ms, ${at(cpu, share).toFixed(2)} ms of CPU; the rows of the name alone ${at(floor, share).toFixed(2)} ms`,
      );
  }
  db.close();
  await rag.close();
  return lines.join("\n");
}

function drawn(names: readonly string[]): string[] {
  const step = Math.max(1, Math.floor(names.length / ASKED));
  return names.filter((_, index) => index % step === 0).slice(0, ASKED);
}

function at(values: number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * share)]!;
}
