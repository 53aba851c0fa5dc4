/**
 * `npm run bench`: everything that is claimed, measured on this machine, beside the peers, written to docs/benchmarks.md.
 * `--quick` (under two minutes): tokens and eight tasks, fewer turns, no floors. `--no-write` prints only. `--peers DIR` keeps the peers there.
 */
import { execFile, execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type Contender, ours, theirs } from "./lib/contender.ts";
import { PEERS } from "./peers/index.ts";
import { install } from "./peers/install.ts";
import { measureHostile } from "./proof/hostile.ts";
import { measureLatency } from "./proof/latency.ts";
import { measureOperations } from "./proof/operations.ts";
import { withSection } from "./proof/page.ts";
import { measureSearch } from "./proof/search.ts";
import { measureStart } from "./proof/start.ts";
import { barChart, markdownTable, ms, thousands } from "./proof/table.ts";
import { playOurs, playTheirs, type TaskRow, taskNames } from "./proof/tasks.ts";

const isQuick = process.argv.includes("--quick");
const folder = process.argv[process.argv.indexOf("--peers") + 1];
const peersDir = process.argv.includes("--peers") && folder ? folder : join(tmpdir(), "llmc-peers");
const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const PAGE = here("../docs/benchmarks.md");
const CHARTS = here("../docs/charts/");

const installed = PEERS.map((peer) => install(peer, peersDir));
const peers: Contender[] = installed.flatMap((got) => ("reason" in got ? [] : [theirs(got)]));
const missing = installed.flatMap((got) =>
  "reason" in got ? [`${got.peer.name} could not be installed here: ${got.reason}`] : [],
);
const hybrid = ours("hybrid");
const all = [hybrid, ...peers];
const names = all.map(({ name }) => name);
const wrap = noNetwork();
const out: string[] = [];
const say = (...lines: string[]) => {
  out.push(...lines, "");
  console.log(`${lines.join("\n")}\n`);
};

say(
  `Measured ${new Date().toISOString().slice(0, 10)} on ${cpus().length} × ${cpus()[0]!.model.trim()}, Node ${process.versions.node}, over stdio with the official client${wrap.length > 0 ? ", every server without a network" : ""}. Tokens by o200k. Medians; servers take turns call by call. Shared machines vary by tens of percent: read the ratios.`,
  "",
  `Peers: ${PEERS.map(({ name, packages }) => `${name} (${packages.map((each) => `${each.name} ${each.version}`).join(" + ")})`).join("; ")}.`,
  ...missing,
);
await tasks();
await operations();
if (!isQuick) await start();
await latency();
if (!isQuick) {
  await search();
  await hostile();
  await floors();
}
if (!process.argv.includes("--no-write") && !isQuick) write();
process.exit(0);

async function tasks(): Promise<void> {
  const sets = isQuick ? ([0] as const) : ([0, 1] as const);
  for (const set of sets) {
    const rows: TaskRow[] = [];
    for (const mode of ["hybrid", "code_execution", "classic"] as const) rows.push(await playOurs(set, mode, wrap));
    for (const peer of peers) rows.push(await playTheirs(set, peer, wrap));
    const head = ["tokens", ...rows.map(({ contender }) => contender)];
    const body = [
      [
        marked(
          "definitions, once",
          rows[0]!.definitions,
          rows.slice(3).map(({ definitions }) => definitions),
        ),
        ...rows.map(({ definitions }) => thousands(definitions)),
      ],
      ...taskNames(set).map((name, at) => {
        const [own, ...others] = rows.map(({ tokens }) => tokens[at]);
        return [marked(name, own, others.slice(2)), ...rows.map(({ tokens }) => thousands(tokens[at]))];
      }),
      ["**all of it** (done)", ...rows.map(({ total, done }) => `**${thousands(total)}** (${done}/8)`)],
    ];
    say(`### ${set === 0 ? "Eight ordinary tasks" : "Eight tasks of real work"}`, "", markdownTable(head, body));
    const bars = rows.map(({ contender, total }) => ({ name: contender, value: total }));
    chart(
      set === 0 ? "tasks" : "work",
      set === 0 ? "Eight ordinary tasks, tokens" : "Eight tasks of real work, tokens",
      bars,
      "",
    );
    if (set === 0) keepResults(rows);
    if (set === 0)
      chart(
        "definitions",
        "Tool definitions, tokens before the first word",
        rows.map((row) => ({ name: row.contender, value: row.definitions })),
        "",
      );
  }
  say(
    "– : the server has no tool for it. What was tried and failed is counted in the sum.",
    "",
    "¹ Dearer in hybrid than with the best peer, which is the shell: one tool without types, and a line of shell that says nothing when it worked. Ours pays for arguments with names and for an answer that tells what was changed; no peer is cheaper over all of a set.",
  );
}

async function operations(): Promise<void> {
  const rows = await measureOperations(all, wrap);
  say(
    "### What an answer costs",
    "",
    markdownTable(
      ["tokens of the answer", ...names],
      rows.map(({ name, tokens }) => {
        const [own, ...others] = names.map((each) => tokens[each]);
        return [marked(name, own, others), ...names.map((each) => thousands(tokens[each]))];
      }),
    ),
    "",
    "¹ More than the best peer. A shell answers nothing to what worked, so that a model has to ask again; ours names what was written and how often, and an error carries its code.",
  );
}

async function start(): Promise<void> {
  const rows = await measureStart(all, 7, wrap);
  const bare = rows.at(-1)!.p50;
  say(
    "### Start and memory",
    "",
    markdownTable(
      ["spawn to `initialize` answered, 7 runs", "p50 ms", "p95 ms", "× bare library", "RSS MB"],
      rows.map(({ name, p50, p95, rss_mb }) => [name, ms(p50), ms(p95), (p50 / bare).toFixed(2), rss_mb.toFixed(0)]),
    ),
    "",
    "Of a bundle its first server only. The shell's one tool needs no schemas, no configuration and no guards: nothing else starts faster than ours.",
  );
  chart(
    "start",
    "Start, milliseconds",
    rows.map(({ name, p50 }) => ({ name, value: p50 })),
    " ms",
  );
}

async function latency(): Promise<void> {
  const turns = isQuick ? 10 : 60;
  const rows = await measureLatency(all, turns, wrap);
  const cells = rows.map(({ name, floor, p50, p95 }) => {
    const own = p50[hybrid.name]!;
    const best = Math.min(...names.slice(1).map((each) => p50[each] ?? Number.POSITIVE_INFINITY));
    return [
      marked(name, own, [best]),
      ...names.map((each) => (p50[each] === undefined ? "–" : `${ms(p50[each])} / ${ms(p95[each])}`)),
      ms(floor),
      (own / best).toFixed(2),
    ];
  });
  say(
    "### Latency",
    "",
    markdownTable([`p50 / p95 ms, ${turns} turns`, ...names, "bare system calls", "ours ÷ best peer"], cells),
    "",
    "¹ Slower than the best peer. Every call of ours is judged by the descriptor that was opened and written to the audit before it is answered; a write is locked, journalled and synced to the disk besides. The others do none of that.",
  );
}

async function search(): Promise<void> {
  const rows = await measureSearch(all, 25_000, 3, wrap);
  const cell = (row: (typeof rows)[number], each: string) =>
    row.ms[each] === undefined ? "–" : `${ms(row.ms[each])} ms, ${thousands(row.tokens[each])} tokens`;
  say(
    "### Search in 25,000 files, 300 MB",
    "",
    markdownTable(
      ["median of 3", ...names],
      rows.map((row) => {
        const [own, ...others] = names.map((each) => row.ms[each]);
        return [marked(row.name, own, others), ...names.map((each) => cell(row, each))];
      }),
    ),
    "",
    "¹ Slower than the best peer: `grep | head` ends with the first files it meets, whatever they are. Ours asks ripgrep, in an order that is the same every time, with the ignored files left out. ripgrep alone stands below, under the floors.",
  );
}

async function hostile(): Promise<void> {
  const rows = await measureHostile(all, wrap);
  const cell = (verdict: { safe: boolean; said: string } | undefined) =>
    verdict ? `${verdict.safe ? "✓" : "✗"} ${verdict.said}` : "–";
  say(
    "### The same attacks on everyone",
    "",
    markdownTable(
      ["attack", ...names],
      rows.map(({ name, verdicts }) => [name, ...names.map((each) => cell(verdicts[each]))]),
    ),
  );
}

/** Our own parts against their floors: ripgrep, raw files, spawn, python3, a constant answer. */
async function floors(): Promise<void> {
  for (const [title, script, ...args] of [
    ["Files against bare system calls", "files.ts"],
    ["Search against ripgrep, 25,000 files", "search.ts"],
    ["Handles against bare SQLite", "handles.ts"],
    ["Commands against spawn", "exec.ts"],
    ["The envelope", "envelope.ts"],
    ["The sandbox against node -e and python3 -c", "sandbox.ts"],
    ["Code mode", "code-mode.ts"],
    ["HTTP against the same framework answering a constant", "load.ts"],
    ["Recursive analysis", "rlm.ts"],
  ] as const) {
    const printed = await promisify(execFile)(process.execPath, [here(script), ...args], {
      env: { ...process.env, NO_COLOR: "1" },
      maxBuffer: 1e8,
    }).then(
      ({ stdout }) => stdout.trimEnd(),
      (error: { stdout?: string; message: string }) =>
        `${error.stdout ?? ""}\nended early: ${error.message.split("\n")[0]}`,
    );
    say(`### ${title}`, "", "```text", printed, "```");
  }
}

/** A row in which the best of the others did better than we did. */
function marked(name: string, own: number | undefined, others: readonly (number | undefined)[]): string {
  return others.some((other) => other !== undefined && other < (own ?? Number.POSITIVE_INFINITY)) ? `${name} ¹` : name;
}

function chart(name: string, title: string, bars: { name: string; value: number }[], unit: string): void {
  if (process.argv.includes("--no-write") || isQuick) return;
  mkdirSync(CHARTS, { recursive: true });
  writeFileSync(join(CHARTS, `${name}.svg`), barChart(title, bars, unit));
  out.push(`![${title}](charts/${name}.svg)`, "");
}

/** For the chart of the README: those who did all of them, the cheapest first. */
function keepResults(rows: readonly TaskRow[]): void {
  if (process.argv.includes("--no-write") || isQuick) return;
  const kept = rows.filter(({ done, contender }) => done === 8 && contender !== "llmc classic");
  const results = {
    measured: new Date().toISOString().slice(0, 10),
    rows: kept
      .map(({ contender: name, total: tokens, done }) => ({ name, tokens, done }))
      .sort((a, b) => a.tokens - b.tokens),
  };
  writeFileSync(here("results/tasks.json"), `${JSON.stringify(results, null, 2)}\n`);
}

function write(): void {
  const text = `## Side by side\n\n\`npm run bench\` made this part; \`npm run bench -- --quick\` prints the most of it in two minutes.\n\n${out.join("\n").trimEnd()}`;
  writeFileSync(PAGE, withSection(readFileSync(PAGE, "utf8"), text));
}

/** A network of its own with nothing in it, where the machine lets us. */
function noNetwork(): string[] {
  const words = ["unshare", process.getuid?.() === 0 ? "-n" : "-rn", "--"];
  try {
    execFileSync(words[0]!, [...words.slice(1), "true"], { stdio: "ignore" });
    return words;
  } catch {
    return [];
  }
}
