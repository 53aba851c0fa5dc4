import { constants } from "node:os";
import { childrenOf, procStat } from "./proc.ts";

/** Seconds between the polite signal and the last one. */
export const GRACE_MS = 2000;

/** Where signals for a command go: to its group, and in a sandbox to the group inside, since the sandbox itself would die of a polite one. */
export function signalGroup(pid: number, inSandbox: boolean, signal: NodeJS.Signals): void {
  if (!inSandbox || signal === "SIGKILL") {
    kill(-pid, signal);
    return;
  }
  const inner = innermost(pid);
  if (inner !== undefined) kill(-inner, signal);
  else kill(-pid, "SIGKILL");
}

/** The first process inside the sandbox: it leads the session there, and as number 1 of its namespace it heeds no polite signal. */
function innermost(pid: number): number | undefined {
  return childrenOf(pid).find((child) => procStat(child)?.pgrp === child);
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
