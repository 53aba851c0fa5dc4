import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Contender } from "../lib/contender.ts";
import { INITIALIZE, median, percentile, start } from "../lib/servers.ts";

export interface StartRow {
  readonly name: string;
  readonly p50: number;
  readonly p95: number;
  readonly rss_mb: number;
}

const BARE = fileURLToPath(new URL("../lib/bare-server.mjs", import.meta.url));

/** From spawn to the answer of `initialize`, and the memory after `tools/list`; the bare server of the library in the same turns. */
export async function measureStart(
  contenders: readonly Contender[],
  runs: number,
  wrap: readonly string[],
): Promise<StartRow[]> {
  const home = mkdtempSync(join(tmpdir(), "llmc-start-"));
  const bare = { name: "bare library", commands: () => [{ command: process.execPath, args: [BARE] }] };
  const all = [...contenders, bare as Pick<Contender, "name" | "commands" | "prepare">];
  const times = all.map((): number[] => []);
  const memory = all.map((): number[] => []);
  try {
    for (const each of all) each.prepare?.(home, home);
    for (let run = 0; run < runs + 1; run++)
      for (const [index, contender] of all.entries()) {
        const { command, args } = contender.commands(home)[0]!;
        const [first, ...rest] = [...wrap, command, ...args];
        const from = performance.now();
        await using server = start(first!, rest, { cwd: home, env: { HOME: home } });
        await server.request("initialize", INITIALIZE);
        const took = performance.now() - from;
        await server.request("tools/list");
        await new Promise((resolve) => setTimeout(resolve, 200));
        if (run === 0) continue;
        times[index]!.push(took);
        memory[index]!.push(rssOf(server.child.pid!));
      }
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
  return all.map(({ name }, index) => ({
    name,
    p50: median(times[index]!),
    p95: percentile(times[index]!, 0.95),
    rss_mb: median(memory[index]!),
  }));
}

function rssOf(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "latin1"))?.[1] ?? 0) / 1024;
}
