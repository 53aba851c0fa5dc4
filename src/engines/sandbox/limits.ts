import type { SandboxOptions } from "./options.ts";
import type { LimitName } from "./types.ts";

/** The limit that matters most comes first. */
const ORDER: readonly LimitName[] = [
  "cancelled",
  "time",
  "crash",
  "memory",
  "stack",
  "disk",
  "files",
  "tool_calls",
  "result",
  "stdout",
  "stderr",
];

export function foremost(limits: Iterable<LimitName>): LimitName | undefined {
  const met = new Set(limits);
  return ORDER.find((name) => met.has(name));
}

/** What a caller can do about a limit. */
export function guidance(name: LimitName, options: SandboxOptions, seconds: number): string {
  const rest = "Print less, or write it to a file in /workspace.";
  const texts: Record<LimitName, string> = {
    time: `Ended after ${seconds} s. Do less in one call${seconds < options.wall_s ? `, or pass timeout_s up to ${options.wall_s}` : ""}.`,
    memory: `More than ${options.memory_mb} MiB. Work in smaller pieces.`,
    stack: "Recursion too deep. Use a loop.",
    disk: `/workspace holds ${options.workspace_mb} MiB. Remove files.`,
    files: `/workspace holds ${options.workspace_files} files. Remove some.`,
    tool_calls: `One run may make ${options.max_tool_calls} tool calls.`,
    stdout: `Output cut at ${options.stdout_bytes} bytes. ${rest}`,
    stderr: `Error output cut at ${options.stderr_bytes} bytes. ${rest}`,
    result: `The value is larger than ${options.result_bytes} bytes and was left out. ${rest}`,
    cancelled: "Cancelled.",
    crash: "The interpreter ended.",
  };
  return texts[name];
}
