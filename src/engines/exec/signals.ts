import { constants } from "node:os";
import { allPids, procStat } from "./proc.ts";

/** Milliseconds between the polite signal and the last one. */
export const GRACE_MS = 2000;

/** Signals everything in a command's group. In a sandbox all but bubblewrap itself, which then ends by itself and leaves no zombie. */
export function signalGroup(pid: number, inSandbox: boolean, signal: NodeJS.Signals): void {
  if (!inSandbox) {
    kill(-pid, signal);
    return;
  }
  const inside = allPids().filter((each) => each !== pid && procStat(each)?.pgrp === pid);
  for (const each of inside) kill(each, signal);
  // Nothing inside yet: it is still being made.
  if (inside.length === 0) kill(-pid, "SIGKILL");
}

export function kill(target: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(target, signal);
    return true;
  } catch {
    return false;
  }
}

/** A program's end as one number and the signal's name, however it was told: bubblewrap turns a signal into 128 and its number. */
export function ending(
  code: number | null,
  signal: NodeJS.Signals | null,
  inSandbox: boolean,
): { exit_code: number; signal: string | null } {
  if (signal !== null) return { exit_code: 128 + constants.signals[signal], signal };
  const exit_code = code ?? 1;
  if (!inSandbox || exit_code <= 128 || exit_code > 128 + 31) return { exit_code, signal: null };
  const name = Object.entries(constants.signals).find(([, number]) => number === exit_code - 128)?.[0] ?? null;
  return { exit_code, signal: name };
}
