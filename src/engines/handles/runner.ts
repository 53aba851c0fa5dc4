import { readFileSync, readlinkSync } from "node:fs";

/** How long a process that we cannot look at may be silent before it counts as dead. */
const SILENT_MS = 30_000;

/** One process, told apart from every later one with the same pid: boot, pid namespace, pid, start time. */
export function thisRunner(): string {
  return [bootId(), pidNamespace(), process.pid, startTime(process.pid) ?? ""].join("/");
}

/** Whether the process that wrote this name still runs. In another container, or on another machine, only its heartbeat can tell. */
export function runs(runner: string | null, beat_ms: number, now: number): boolean {
  if (runner === null) return false;
  const [boot, namespace, pid, start] = runner.split("/");
  if (boot !== bootId() || namespace !== pidNamespace()) return now - beat_ms < SILENT_MS;
  return startTime(Number(pid)) === start;
}

/** Field 22 of /proc/<pid>/stat. The name before it may hold spaces and parentheses, so it is cut off at the last one. */
function startTime(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
  } catch {
    return undefined;
  }
}

function bootId(): string {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim();
  } catch {
    return "";
  }
}

function pidNamespace(): string {
  try {
    return readlinkSync("/proc/self/ns/pid").replace(/\D/g, "");
  } catch {
    return "";
  }
}
