import type { Exec, Explanation } from "../engines/exec/index.ts";
import { unwrapTe } from "../tools/te.ts";

/** What the gate says of a command line; `te COMMAND` is the command, as in run_cmd. */
export async function judge(exec: Exec, command: string): Promise<Explanation> {
  const { ask, request } = await unwrapTe({ command });
  if (!ask) return exec.explain(request.command ?? request.argv?.join(" ") ?? command);
  const change = "Set mcp.te.enabled = false.";
  return { allowed: true, rule: "te", class: "reader", level: null, runs: null, reason: null, change };
}

/** What `llmc policy explain '<command>'` prints: allowed or denied, by which rule, how it would run, and what would change it. */
export async function explainPolicy(exec: Exec, command: string): Promise<string> {
  const found = await judge(exec, command);
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
