import { readFileSync } from "node:fs";
import { totalmem } from "node:os";
import { Fault } from "../../base/fault.ts";
import type { Principal } from "../../base/principal.ts";
import { visible } from "../../base/text.ts";
import { allPids, procStat, userOf } from "./proc.ts";
import type { Processes } from "./processes.ts";
import { kill } from "./signals.ts";

export interface ProcessRow {
  readonly pid: number;
  readonly ppid: number;
  readonly user: string;
  /** Percent of one processor since it began. */
  readonly cpu: number;
  /** Percent of the machine's memory. */
  readonly mem: number;
  readonly command: string;
  readonly proc_id?: string;
}

const TICKS_PER_S = 100;
const PAGE = 4096;
const MAX_COMMAND = 200;

/** Processes of one user (the server's own by default), busiest first. */
export function listProcesses(
  owner: Principal,
  processes: Processes,
  user: string | undefined,
  max_results: number,
): ProcessRow[] {
  const names = userNames();
  const uid = user === undefined ? process.getuid!() : uidOf(user, names);
  const own = processes.own(owner);
  const uptime = Number(readFileSync("/proc/uptime", "latin1").split(" ")[0]);
  const rows = allPids().flatMap((pid) => {
    const stat = procStat(pid);
    const rowUser = stat && userOf(pid);
    if (!stat || rowUser !== uid || stat.state === "Z") return [];
    const age = Math.max(0.1, uptime - stat.started / TICKS_PER_S);
    const proc_id = owningProcess(pid, own);
    const row: ProcessRow = {
      pid,
      ppid: stat.ppid,
      user: names.get(rowUser) ?? String(rowUser),
      cpu: rounded((stat.ticks / TICKS_PER_S / age) * 100),
      mem: rounded(((stat.rss_pages * PAGE) / totalmem()) * 100),
      command: commandOf(pid, stat.name),
      ...(proc_id === undefined ? {} : { proc_id }),
    };
    return [row];
  });
  return rows
    .sort((a, b) => Number(b.proc_id !== undefined) - Number(a.proc_id !== undefined) || b.cpu - a.cpu || a.pid - b.pid)
    .slice(0, max_results);
}

/** Signals one process, when it may be. */
export function killProcess(
  owner: Principal,
  processes: Processes,
  pid: number,
  signal: NodeJS.Signals,
  mayKillForeign: boolean,
): void {
  if (pid <= 1) throw refused("process 1 keeps the machine running");
  if (pid === process.pid || pid === process.ppid) throw refused("that is this server, or what started it");
  const stat = procStat(pid);
  const uid = userOf(pid);
  if (!stat || uid === undefined) throw new Fault("file_not_found", `There is no process ${pid}.`);
  if (uid !== process.getuid!()) throw refused("it belongs to another user");
  if (owningProcess(pid, processes.own(owner)) === undefined && !mayKillForeign)
    throw refused("you did not start it with linux_proc_start", "An operator can set mcp.tools.proc_kill_foreign.");
  // The number could have passed to another process since it was looked at.
  if (procStat(pid)?.started !== stat.started || !kill(pid, signal))
    throw new Fault("file_not_found", `Process ${pid} is gone.`);
}

/** The background process that this one is, or descends from. */
function owningProcess(pid: number, own: ReadonlyMap<number, string>): string | undefined {
  for (let at = pid, steps = 0; at > 1 && steps < 64; steps++) {
    const id = own.get(at);
    if (id !== undefined) return id;
    at = procStat(at)?.ppid ?? 0;
  }
  return undefined;
}

function commandOf(pid: number, name: string): string {
  let line = "";
  try {
    line = readFileSync(`/proc/${pid}/cmdline`, "utf8").replace(/\0+$/, "").replaceAll("\0", " ");
  } catch {
    // It ended while we looked.
  }
  const text = visible(line === "" ? `[${name}]` : line);
  return text.length > MAX_COMMAND ? `${text.slice(0, MAX_COMMAND)}...` : text;
}

function userNames(): Map<number, string> {
  try {
    const lines = readFileSync("/etc/passwd", "utf8").split("\n");
    return new Map(
      lines
        .map((line) => line.split(":"))
        .filter((parts) => parts.length > 2)
        .map((parts) => [Number(parts[2]), parts[0]!]),
    );
  } catch {
    return new Map();
  }
}

function uidOf(user: string, names: ReadonlyMap<number, string>): number {
  if (/^\d+$/.test(user)) return Number(user);
  for (const [uid, name] of names) if (name === user) return uid;
  throw new Fault("invalid_args", `There is no user ${visible(user)}.`);
}

function refused(why: string, hint?: string): Fault {
  return new Fault("permission_denied", `Not signalled: ${why}.`, {
    rule: "proc_kill",
    ...(hint === undefined ? {} : { hint }),
  });
}

function rounded(value: number): number {
  return Math.round(value * 10) / 10;
}
