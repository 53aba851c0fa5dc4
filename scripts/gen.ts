import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { COMMANDS } from "../src/cli/commands.ts";
import { manPage } from "../src/cli/man.ts";
import { tasksChart } from "./gen/chart.ts";
import { configReference, exampleToml } from "./gen/config.ts";
import { readmeTools, toolReference, toolSnapshots } from "./gen/tools.ts";

/** Everything that is written from the definitions. `--check` writes nothing and fails when a file is not what it would write. */
const check = process.argv.includes("--check");
const SNAPS = "src/tools/__snaps__";

const files = new Map<string, string>([
  ["llmc.example.toml", exampleToml()],
  ["docs/configuration.md", configReference()],
  ["docs/tools.md", toolReference()],
  ["man/llmc.1", manPage(COMMANDS)],
  ["README.md", between(between(read("README.md") ?? "", "tools", await readmeTools()), "chart", tasksChart())],
  ...toolSnapshots().map(([name, text]): [string, string] => [join(SNAPS, `${name}.json`), text]),
]);

const stale = readdirSync(SNAPS, { withFileTypes: true })
  .map((entry) => join(SNAPS, entry.name))
  .filter((path) => !files.has(path));
const wrong = [...files].filter(([path, text]) => read(path) !== text).map(([path]) => path);

if (check) {
  for (const path of wrong) console.error(`${path} is not what its definitions say.`);
  for (const path of stale) console.error(`${path} belongs to no tool.`);
  if (wrong.length + stale.length > 0) {
    console.error("Run: npm run gen");
    process.exit(1);
  }
  console.log(`${files.size} generated files are true.`);
} else {
  for (const path of stale) rmSync(path);
  for (const path of wrong) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, files.get(path)!);
    console.log(`wrote ${path}`);
  }
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

/** A text with what stands between two markers exchanged. */
function between(whole: string, marker: string, text: string): string {
  const [start, end] = [`<!-- ${marker}: generated -->`, `<!-- /${marker} -->`];
  const from = whole.indexOf(start);
  const to = whole.indexOf(end);
  if (from === -1 || to === -1) throw new Error(`There are no markers ${start} … ${end}`);
  return `${whole.slice(0, from + start.length)}\n${text}\n${whole.slice(to)}`;
}
