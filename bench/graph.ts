/**
 * How true the code graph is and what it costs: `node bench/graph.ts <folder> [more folders] [--tree=<large folder>]`
 * `[--commits=<git directory>,<set.jsonl> …]`.
 * Folders hold TypeScript: the TypeScript language service says what each name in them means, and the graph is held against it.
 * The large folder is for the speed of where-used; the commit sets for what `rag_plan` finds among its first five reads.
 */
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { buildCost } from "./lib/graph-cost.ts";
import { planHits } from "./lib/plan-hits.ts";
import { trueness } from "./lib/trueness.ts";
import { measureUses } from "./lib/where-used-speed.ts";

const args = process.argv.slice(2);
const value = (name: string) =>
  args.filter((one) => one.startsWith(`--${name}=`)).map((one) => one.slice(name.length + 3));

for (const folder of args.filter((one) => !one.startsWith("--"))) {
  const root = realpathSync(folder);
  console.log(`\n## ${basename(root)}: edges against the TypeScript language service\n`);
  console.log(await trueness(root));
  console.log(`\n## ${basename(root)}: what the graph adds to indexing\n`);
  console.log(await buildCost(root));
}
for (const folder of value("tree")) {
  const state_dir = mkdtempSync(join(tmpdir(), "llmc-bench-"));
  try {
    console.log(`\n## ${basename(folder)}: where-used\n`);
    console.log(await measureUses(realpathSync(folder), state_dir));
  } finally {
    rmSync(state_dir, { recursive: true });
  }
}
const sets = value("commits").map((one) => one.split(",") as [string, string]);
if (sets.length > 0) {
  console.log("\n## A changed file among the first five reads\n");
  console.log(await planHits(sets));
}
