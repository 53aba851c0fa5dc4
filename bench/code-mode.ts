import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { createBed } from "../tests/harness/bed.ts";
import { writeProject } from "../tests/harness/project.ts";
import { readRecipes } from "../tests/harness/recipes.ts";
import { median, row } from "./lib/servers.ts";

/**
 * The recipes of docs/code-mode.md: tokens of the code-mode run beside those of making the same calls one by one, and the time a tool call
 * from code takes beyond the tool's own. `--write` puts the table into the document; `--log-lines N` sets the size of the log (700000 is 50 MB).
 */
const log_lines = Number(flag("--log-lines") ?? 20_000);
const root = mkdtempSync(join(tmpdir(), "llmc-code-"));
writeProject(root, log_lines);
await using bed = createBed({ root });

const rows: string[] = [];
let [sumCode, sumTools] = [0, 0];
row("recipe", "calls", "code mode", "by tools", "ratio");
for (const { title, javascript } of readRecipes()) {
  const args = { language: "javascript", code: javascript, session_id: "none" };
  const answer = await bed.text("execute_code", args);
  const inCode = countTokens(JSON.stringify({ name: "execute_code", arguments: args })) + countTokens(answer);
  const calls = await recorded(javascript);
  let byTools = 0;
  for (const [name, given] of calls)
    byTools += countTokens(JSON.stringify({ name, arguments: given })) + countTokens(await bed.text(name, given));
  sumCode += inCode;
  sumTools += byTools;
  row(title, String(calls.length), String(inCode), String(byTools), inCode / byTools);
  rows.push(`| ${title} | ${calls.length} | ${inCode} | ${byTools} |`);
}
row("all", "", String(sumCode), String(sumTools), sumCode / sumTools);
rows.push(`| **all** | | **${sumCode}** | **${sumTools}** |`);

for (const language of ["javascript", "python"] as const) {
  const many =
    language === "javascript"
      ? 'for (let i = 0; i < 1000; i++) await tools.stat({ path: "src/main.ts" })'
      : 'for i in range(1000):\n  tools.stat(path="src/main.ts")';
  const none = language === "javascript" ? "for (let i = 0; i < 1000; i++) await 1" : "for i in range(1000):\n  pass";
  const time = async (code: string) => {
    const times: number[] = [];
    for (let round = 0; round < 5; round++) {
      const from = performance.now();
      await bed.payload("execute_code", { language, code, session_id: "none" });
      times.push(performance.now() - from);
    }
    return median(times);
  };
  const own = await ownTime();
  const each = ((await time(many)) - (await time(none))) / 1000 - own;
  row(`a call from ${language}, beyond the tool`, `${each.toFixed(3)} ms`);
}
if (process.argv.includes("--write")) writeTable();
rmSync(root, { recursive: true, force: true });

/** The calls that a recipe makes, in order. */
async function recorded(code: string): Promise<[string, Record<string, unknown>][]> {
  const recorder =
    "const calls = []; const seen = new Proxy({}, { get: (_, name) => (args) => { calls.push([name, args]); return tools[name](args); } });\n";
  const { result } = await bed.payload<{ result: unknown }>("execute_code", {
    language: "javascript",
    code: `${recorder}${code.replaceAll("tools.", "seen.")}\ncalls`,
    session_id: "none",
  });
  return result as [string, Record<string, unknown>][];
}

/** The same call without code around it. */
async function ownTime(): Promise<number> {
  const times: number[] = [];
  for (let index = 0; index < 1000; index++) {
    const from = performance.now();
    await bed.call("stat", { path: "src/main.ts" });
    times.push(performance.now() - from);
  }
  return median(times);
}

function writeTable(): void {
  const page = readFileSync("docs/code-mode.md", "utf8");
  const table = [
    "| recipe | tool calls | tokens in code mode | tokens call by call |",
    "|---|--:|--:|--:|",
    ...rows,
  ].join("\n");
  const next = page.replace(/(<!-- recipes: generated -->\n)[\s\S]*?(<!-- \/recipes -->)/, `$1${table}\n$2`);
  writeFileSync("docs/code-mode.md", next);
}

function flag(name: string): string | undefined {
  const at = process.argv.indexOf(name);
  return at === -1 ? undefined : process.argv[at + 1];
}
