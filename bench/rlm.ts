/**
 * Recursive analysis against a model that is a program: what a turn costs beyond the model, a text of 64 MB, the budget under
 * 64 parallel calls, and tokens sent beside those of the whole text. `node bench/rlm.ts [turns|parallel|answers|largest]`
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { countTokens } from "../src/core/tokens.ts";
import { LONG, rlmConfig, writes } from "../tests/rlm/bed.ts";
import { createEngine, type Engine, priced } from "../tests/rlm/engine.ts";
import { FAMILY_NAMES, familyOf } from "../tests/rlm/families.ts";
import { startModelServer } from "../tests/rlm/model-server.ts";
import { initialize, median, percentile, row, start } from "./lib/servers.ts";

const TURNS = 200;
const ONLY = process.argv[2];
const BINARY = fileURLToPath(new URL("../bin/llmc", import.meta.url));
const MIB = 1024 * 1024;
/** Families that code alone decides; in the others a model reads every line, or the file is never larger. */
const BY_CODE = /needle|join/;

for (const part of [turns, parallel, answers]) {
  if (ONLY !== undefined && ONLY !== part.name) continue;
  await using engine = createEngine();
  await part(engine);
}
if (ONLY === undefined || ONLY === "largest") await largest();

/** The time between two turns, less the time that the model server had the request. */
async function turns(engine: Engine): Promise<void> {
  row("a turn beyond the model", "p50 ms", "p95 ms", "goal p50", "post p50 ms", "ratio");
  for (const [language, code] of [
    ["javascript", "print(search('line').length)"],
    ["python", "print(len(search('line')))"],
  ] as const) {
    await using at = await engine.start({ script: { model: writes(code, language) }, rlm: { max_calls: 100_000 } });
    const overhead: number[] = [];
    const post: number[] = [];
    while (overhead.length < TURNS) {
      const began: number[] = [];
      const onProgress = ({ calls, turn }: { calls: number; turn: number }) => {
        if (calls === turn - 1) began.push(performance.now());
      };
      await at.query("x", LONG, { max_turns: 30, onProgress }).catch(() => {});
      // The first turn starts an interpreter; what is left is the rhythm of a run.
      for (let turn = 2; turn < began.length; turn++) overhead.push(began[turn]! - began[turn - 1]!);
      for (let call = 0; call < 20; call++) post.push(await bare(at.server.url));
    }
    const model = median(post);
    const beyond = overhead.map((ms) => ms - model);
    row(`  ${language}`, median(beyond), percentile(beyond, 0.95), 10, model, median(beyond) / model);
  }
}

/** The floor: the same server, asked by nothing but Node. */
async function bare(url: string): Promise<number> {
  const messages = [
    { role: "system", content: "only through code" },
    { role: "user", content: "x".repeat(3000) },
  ];
  const began = performance.now();
  await (
    await fetch(`${url}/api/chat`, { method: "POST", body: JSON.stringify({ model: "m", messages, stream: false }) })
  ).text();
  return performance.now() - began;
}

/** 64 calls at once against a budget of 10 worst cases. */
async function parallel(engine: Engine): Promise<void> {
  const code =
    "answer(await llm_query_batch(Array.from({ length: 64 }, (_, i) => 'prompt ' + String(i).padStart(2, '0'))));";
  const isRoot = (system: string) => system.includes("only through code");
  const worst = { input: 38 + 9 + 64, output: 4096 };
  const covered = ((worst.input + worst.output) / 1e6) * 10 + 2 / 1e6;
  row("64 parallel calls, budget for 10", "reached", "spent/budget", "left >= 0");
  for (const [name, billed] of [
    ["billed at the worst case", worst],
    ["billed at a tenth", { input: 11, output: 409 }],
    ["billed at next to nothing", { input: 1, output: 1 }],
  ] as const) {
    const bill = ({ system }: { system: string }) => (isRoot(system) ? { input: 1, output: 1 } : billed);
    await using at = await engine.start({ rlm: priced(1, 1), script: { model: writes(code), bill, delay_ms: 5 } });
    const { budget_summary } = await at.query("x", LONG, { budget_usd: covered });
    const { total_cost_usd, limit_usd, remaining_usd } = budget_summary;
    row(`  ${name}`, String(at.server.seen.length - 1), total_cost_usd / limit_usd, remaining_usd >= 0 ? "yes" : "NO");
  }
}

/** Every family at every size: right or wrong, and what was sent beside what the whole text would be. */
async function answers(engine: Engine): Promise<void> {
  row("answers on generated tasks", "right", "sent tokens", "whole text", "share");
  for (const bytes of [1_000, 16_000, 256_000, 4_000_000, 63_000_000]) {
    for (const name of FAMILY_NAMES.filter((one) => bytes <= 256_000 || BY_CODE.test(one))) {
      const family = familyOf(name, {
        bytes,
        seed: bytes,
        newline: bytes === 16_000 ? "\r\n" : "\n",
        unicode: bytes < 1e7,
      });
      await using at = await engine.start({ rlm: { max_calls: 1000 } });
      const { answer, budget_summary } = await at.query(family.task, family.text, { language: family.language });
      const whole = countTokens(family.text);
      const sent = budget_summary.input_tokens;
      const right = answer === family.truth ? "yes" : "NO";
      row(`  ${bytes / 1000} KB ${name}`, right, String(sent), String(whole), sent / whole);
    }
  }
}

/** 64 MiB through the built server: read, loaded, searched, answered. Each time a new server. */
async function largest(): Promise<void> {
  row("a text of 64 MiB, over stdio", "seconds", "goal", "peak MB", "goal");
  const code =
    'const [hit] = search(/code word of Falcon is (\\S+)\\./); answer(hit ? hit.text.split(" ").at(-1).slice(0, -1) : "none")';
  await using models = await startModelServer({ model: writes(code) });
  for (const unicode of [false, true]) {
    const root = mkdtempSync(join(tmpdir(), "llmc-bench-"));
    const needle = familyOf("needle", { bytes: 63 * MIB, seed: 64, newline: "\n", unicode });
    writeFileSync(join(root, "llmc.toml"), rlmConfig(models.url));
    writeFileSync(join(root, "big.txt"), needle.text);
    writeFileSync(join(root, "small.txt"), LONG);
    try {
      for (const isWarm of [false, true]) {
        await using server = start(BINARY, ["serve", "--root", root, "--mode", "classic"]);
        await initialize(server);
        const ask = async (path: string) =>
          JSON.stringify(
            await server.request("tools/call", {
              name: "rlm_query",
              arguments: { task: "x", path, max_bytes: 64 * MIB },
            }),
          );
        if (isWarm) await ask("small.txt");
        const began = performance.now();
        const told = await ask("big.txt");
        const seconds = (performance.now() - began) / 1000;
        if (!told.includes(needle.truth)) throw new Error(told.slice(0, 500));
        row(
          `  ${unicode ? "unicode" : "ascii"}, sandbox ${isWarm ? "warm" : "cold"}`,
          seconds,
          1.5,
          peakMb(server.child.pid!),
          400,
        );
      }
    } finally {
      rmSync(root, { recursive: true, force: true });
    }
  }
}

/** The most that a process and those below it ever had, as the kernel kept count. Pages of the program itself are one copy in memory. */
function peakMb(pid: number, isBelow = false): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const of = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 1024;
  const below = readdirSync(`/proc/${pid}/task`).flatMap((task) => childrenOf(`/proc/${pid}/task/${task}/children`));
  const own = of("VmHWM") - (isBelow ? of("RssFile") : 0);
  return below.reduce((sum, child) => sum + peakMb(child, true), own);
}

/** A thread may have ended meanwhile. */
function childrenOf(list: string): number[] {
  try {
    return readFileSync(list, "utf8").split(" ").filter(Boolean).map(Number);
  } catch {
    return [];
  }
}
