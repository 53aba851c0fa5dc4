import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { INITIALIZE, initialize, type Measured, median, percentile, row, start } from "./lib/servers.ts";

/**
 * Start, memory and the cost of a call, against a bare unbundled server on the same library and Node, interleaved.
 * `--peer NAME=COMMAND` adds another server to the start rows: --peer "dc=node /path/to/server.js".
 */
const runs = Number(flag("--runs") ?? 15);
const root = mkdtempSync(join(tmpdir(), "llmc-bench-"));
writeFileSync(join(root, "a.txt"), "line\n".repeat(200));
const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const SERVERS: Record<string, () => Measured> = {
  bare: () => start(process.execPath, [here("lib/bare-server.mjs")]),
  llmc: () => start(here("../bin/llmc"), ["serve", "--root", root]),
  ...Object.fromEntries(
    peers().map(([name, [command, ...args]]) => [
      name,
      () => start(command!, args, { cwd: root, env: { HOME: root } }),
    ]),
  ),
};

const startMs: Record<string, number[]> = {};
const rss: Record<string, number[]> = {};
for (let run = 0; run < runs + 2; run++)
  for (const [name, open] of Object.entries(SERVERS)) {
    const from = performance.now();
    await using server = open();
    await server.request("initialize", INITIALIZE);
    const took = performance.now() - from;
    await server.request("tools/list");
    await new Promise((resolve) => setTimeout(resolve, 300));
    if (run < 2) continue;
    (startMs[name] ??= []).push(took);
    (rss[name] ??= []).push(server.rssMb());
  }
console.log(`spawn to initialize answered, ${runs} runs interleaved; RSS after tools/list\n`);
row("", "p50 ms", "p95 ms", "x bare", "RSS MB");
for (const name of Object.keys(SERVERS))
  row(
    name,
    median(startMs[name]!),
    percentile(startMs[name]!, 0.95),
    median(startMs[name]!) / median(startMs["bare"]!),
    median(rss[name]!),
  );
for (const [name] of peers())
  console.log(`llmc / ${name}: ${(median(startMs["llmc"]!) / median(startMs[name]!)).toFixed(3)}`);

await using bare = SERVERS["bare"]!();
await using llmc = SERVERS["llmc"]!();
await initialize(bare);
await initialize(llmc);
const calls: Record<string, () => Promise<unknown>> = {
  "bare ping": () => bare.request("ping"),
  "llmc ping": () => llmc.request("ping"),
  "bare tools/call": () => bare.request("tools/call", { name: "nothing", arguments: {} }),
  "llmc stat": () => llmc.request("tools/call", { name: "stat", arguments: { path: "a.txt" } }),
  "llmc read_file 200 lines": () => llmc.request("tools/call", { name: "read_file", arguments: { path: "a.txt" } }),
  "llmc linux_fs_read 200 lines": () =>
    llmc.request("tools/call", { name: "linux_fs_read", arguments: { path: "a.txt" } }),
};
const p50: Record<string, number[]> = {};
for (let round = 0; round < 6; round++) {
  const times: Record<string, number[]> = {};
  for (let index = 0; index < 400; index++)
    for (const [name, call] of Object.entries(calls)) {
      const from = performance.now();
      await call();
      (times[name] ??= []).push(performance.now() - from);
    }
  if (round > 0) for (const name of Object.keys(calls)) (p50[name] ??= []).push(median(times[name]!));
}
console.log("\ncalls, interleaved, p50, median of 5 rounds of 400\n");
row("", "ms", "x bare ping");
for (const name of Object.keys(calls)) row(name, median(p50[name]!), median(p50[name]!) / median(p50["bare ping"]!));
rmSync(root, { recursive: true, force: true });

function flag(name: string): string | undefined {
  const at = process.argv.indexOf(name);
  return at === -1 ? undefined : process.argv[at + 1];
}

function peers(): [string, string[]][] {
  return process.argv.flatMap((word, index): [string, string[]][] => {
    if (word !== "--peer") return [];
    const [name, command] = process.argv[index + 1]!.split(/=(.*)/s) as [string, string];
    return [[name, command.split(" ")]];
  });
}
