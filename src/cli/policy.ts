import type { Exec } from "../engines/exec/index.ts";

/** What `llmc policy explain '<command>'` prints: allowed or denied, by which rule, how it would run, and what would change it. */
export async function explainPolicy(exec: Exec, command: string): Promise<string> {
  const found = await exec.explain(command);
  const isolation = await exec.isolation();
  const lines = [
    `${found.allowed ? "allowed" : "denied"}  ${command}`,
    `rule       ${found.rule}`,
    ...(found.reason === null ? [] : [`because    ${found.reason}`]),
    ...(found.class === null ? [] : [`class      ${found.class}`]),
    ...(found.level === null ? [] : [`isolation  ${found.level}${LEVELS[found.level]}`]),
    ...(found.runs === null ? [] : [`runs       ${found.runs.join(" ")}`]),
    `sandbox    ${isolation.level}${isolation.reason === null ? "" : ` (${isolation.reason})`}`,
    ...(found.change === null ? [] : [`to change  ${found.change}`]),
  ];
  return `${lines.join("\n")}\n`;
}

const LEVELS = {
  bwrap: ": an OS sandbox",
  isolated: ": LLMC_ISOLATED=1",
  host: ': run_cmd_trust = "host"',
  process: ": a process of its own; its arguments were judged",
} as const;
