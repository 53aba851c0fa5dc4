import { readFileSync, statfsSync, statSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";

export interface Snapshot {
  readonly cpu: { readonly count: number; readonly model: string; readonly used_percent: number };
  readonly load: readonly [number, number, number];
  readonly memory: {
    readonly total_mb: number;
    readonly available_mb: number;
    readonly used_percent: number;
    readonly swap_used_mb: number;
  };
  readonly disks: readonly {
    readonly path: string;
    readonly total_gb: number;
    readonly free_gb: number;
    readonly used_percent: number;
  }[];
  readonly summary: string;
}

const SAMPLE_MS = 100;

/** The machine at this moment: processor over a tenth of a second, memory, and the disks that the given folders lie on. */
export async function takeSnapshot(folders: readonly string[], signal: AbortSignal): Promise<Snapshot> {
  const before = processorTicks();
  await sleep(SAMPLE_MS, undefined, { signal });
  const after = processorTicks();
  const all = after.all - before.all;
  const cpu = {
    count: cpus().length,
    model: cpus()[0]?.model ?? "unknown",
    used_percent: percent(all - (after.idle - before.idle), all),
  };
  const load = loadavg().map((value) => Math.round(value * 100) / 100) as [number, number, number];
  const memory = memoryNow();
  const disks = disksOf(folders);
  const fullest = disks.toSorted((a, b) => b.used_percent - a.used_percent)[0];
  const disk = fullest ? `, disk ${fullest.used_percent}% of ${fullest.total_gb} GB at ${fullest.path}` : "";
  const summary = `cpu ${cpu.used_percent}% of ${cpu.count}, load ${load[0]}, memory ${memory.used_percent}% of ${memory.total_mb} MB${disk}`;
  return { cpu, load, memory, disks, summary };
}

function processorTicks(): { all: number; idle: number } {
  const ticks = readFileSync("/proc/stat", "latin1").split("\n", 1)[0]!.split(/\s+/).slice(1, 9).map(Number);
  return { all: ticks.reduce((sum, value) => sum + value, 0), idle: ticks[3]! + (ticks[4] ?? 0) };
}

function memoryNow(): Snapshot["memory"] {
  const text = readFileSync("/proc/meminfo", "latin1");
  const mb = (name: string) => Math.round(Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(text)?.[1] ?? 0) / 1024);
  const total_mb = mb("MemTotal");
  const available_mb = mb("MemAvailable");
  return {
    total_mb,
    available_mb,
    used_percent: percent(total_mb - available_mb, total_mb),
    swap_used_mb: mb("SwapTotal") - mb("SwapFree"),
  };
}

function disksOf(folders: readonly string[]): Snapshot["disks"] {
  const seen = new Set<number>();
  return folders.flatMap((path) => {
    try {
      const device = statSync(path).dev;
      if (seen.has(device)) return [];
      seen.add(device);
      const { blocks, bavail, bfree, bsize } = statfsSync(path);
      const gb = (count: number) => Math.round(((count * bsize) / 1024 ** 3) * 10) / 10;
      return [{ path, total_gb: gb(blocks), free_gb: gb(bavail), used_percent: percent(blocks - bfree, blocks) }];
    } catch {
      return [];
    }
  });
}

function percent(part: number, whole: number): number {
  return whole <= 0 ? 0 : Math.round((Math.max(0, part) / whole) * 1000) / 10;
}
