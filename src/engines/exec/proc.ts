import { readdirSync, readFileSync } from "node:fs";

export interface ProcStat {
  readonly pid: number;
  readonly name: string;
  readonly state: string;
  readonly ppid: number;
  readonly pgrp: number;
  /** Clock ticks of processor time. */
  readonly ticks: number;
  /** Clock ticks after boot at which it began: with the pid it names one process for ever. */
  readonly started: number;
  readonly rss_pages: number;
}

/** One process as the kernel tells it; undefined when it is gone. */
export function procStat(pid: number): ProcStat | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The name stands in parentheses and may hold some itself.
    const open = text.indexOf("(");
    const close = text.lastIndexOf(")");
    const rest = text.slice(close + 2).split(" ");
    return {
      pid,
      name: text.slice(open + 1, close),
      state: rest[0] ?? "?",
      ppid: Number(rest[1]),
      pgrp: Number(rest[2]),
      ticks: Number(rest[11]) + Number(rest[12]),
      started: Number(rest[19]),
      rss_pages: Number(rest[21]),
    };
  } catch {
    return undefined;
  }
}

export function startTime(pid: number): number | undefined {
  return procStat(pid)?.started;
}

export function isAlive(pid: number, started: number): boolean {
  const stat = procStat(pid);
  return stat !== undefined && stat.started === started && stat.state !== "Z";
}

export function allPids(): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

export function childrenOf(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, "latin1").trim().split(" ").filter(Boolean).map(Number);
  } catch {
    return allPids().filter((other) => procStat(other)?.ppid === pid);
  }
}

/** Real user of a process, or undefined when it is gone. */
export function userOf(pid: number): number | undefined {
  try {
    const line = /^Uid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "latin1"));
    return line ? Number(line[1]) : undefined;
  } catch {
    return undefined;
  }
}
