/** The Tool Envelope: tokens of long test logs, time and memory of a flood, and the price of te. `node bench/envelope.ts [rounds]` */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { encode } from "gpt-tokenizer/encoding/o200k_base";
import { createCollector } from "../src/engines/envelope/collect.ts";
import { shorten } from "../src/engines/envelope/digest.ts";
import { FIXTURES, logOf, ranOf } from "../src/engines/envelope/test-fixtures.ts";

const ROUNDS = Number(process.argv[2] ?? 15);

console.table(
  FIXTURES.map((fixture) => {
    const log = logOf(fixture);
    const { stdout, stderr } = shorten(ranOf(fixture, log), 8000);
    const digest = encode(stdout + stderr).length;
    const tokens = encode(log).length;
    return {
      log: fixture.name,
      lines: log.split("\n").length - 1,
      tokens,
      digest,
      goal: `<= ${fixture.tokens}`,
      "share %": Math.round((digest / tokens) * 1000) / 10,
    };
  }),
);
flood();
start();

/** 20 MB of a test run with failures far apart, in the blocks that a pipe gives. */
function flood(): void {
  const lines: string[] = [];
  for (let n = 1; lines.length < 250_000; n++)
    lines.push(
      n % 30_000 === 0
        ? `not ok ${n} - case ${n}\n  ---\n  message: 'lost ${n}'\n  ...`
        : `ok ${n} - case ${n} does what it should and says so in a line of the usual length, no more`,
    );
  const log = Buffer.from(`${lines.join("\n")}\n`);
  lines.length = 0;
  const times: number[] = [];
  let growth = 0;
  let found: number | undefined;
  for (let round = 0; round < 5; round++) {
    const before = process.memoryUsage().rss;
    const began = performance.now();
    const collector = createCollector();
    for (let at = 0; at < log.length; at += 65536) collector.push(log.subarray(at, at + 65536));
    const { text, lines: total, condensed } = collector.end();
    found = shorten(
      { argv: ["node", "t.mjs"], stdout: text, stderr: "", exit_code: 1, lines: total, condensed },
      8000,
    ).match_count;
    times.push(performance.now() - began);
    growth = Math.max(growth, process.memoryUsage().rss - before);
  }
  console.table([
    {
      what: `digest of ${(log.length / 1e6).toFixed(1)} MB, ${found} failures`,
      ms: median(times).toFixed(0),
      goal_ms: "<= 250",
      "RSS growth MB": (growth / 1e6).toFixed(0),
      goal_mb: "< 60",
    },
  ]);
}

/** te true against node -e 0, in turns. */
function start(): void {
  const te = fileURLToPath(new URL("../bin/te", import.meta.url));
  const root = mkdtempSync(join(tmpdir(), "llmc-bench-te-"));
  mkdirSync(join(root, ".git"));
  const ours: number[] = [];
  const floor: number[] = [];
  const ratios: number[] = [];
  for (let round = -2; round < ROUNDS; round++) {
    const node = timed(process.execPath, ["-e", "0"], root);
    const own = timed(te, ["true"], root);
    if (round < 0) continue;
    ours.push(own);
    floor.push(node);
    ratios.push(own / node);
  }
  rmSync(root, { recursive: true });
  console.table([
    {
      what: "te true / node -e 0",
      "te ms": median(ours).toFixed(1),
      "node ms": median(floor).toFixed(1),
      ratio: median(ratios).toFixed(2),
      goal: "<= 2.5",
    },
  ]);
}

function timed(command: string, args: readonly string[], cwd: string): number {
  const began = performance.now();
  const { status } = spawnSync(command, args, { cwd, stdio: "ignore" });
  if (status !== 0) throw new Error(`${command} ended with ${status}`);
  return performance.now() - began;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1]!;
}
