import type { CommandClass, IsolationLevel } from "../../base/command.ts";
import { Fault } from "../../base/fault.ts";
import type { Gate } from "./gate.ts";

export interface Explanation {
  readonly allowed: boolean;
  readonly rule: string;
  readonly class: CommandClass | null;
  readonly level: IsolationLevel | null;
  /** What would really be started. */
  readonly runs: readonly string[] | null;
  readonly reason: string | null;
  /** What would change the answer. */
  readonly change: string | null;
}

/** What the gate says about a command, and why, without running it. */
export async function explain(gate: Gate, command: string): Promise<Explanation> {
  try {
    const allowed = await gate.allow({ command });
    const name = /^[\w-]+$/.test(allowed.name) ? allowed.name : JSON.stringify(allowed.name);
    const change = `Remove ${name} from mcp.tools.run_cmd_allowlist, or narrow it in [mcp.tools.policy.${name}].`;
    return {
      allowed: true,
      rule: allowed.rule,
      class: allowed.class,
      level: allowed.level,
      runs: [allowed.file, ...allowed.args],
      reason: null,
      change,
    };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return {
      allowed: false,
      rule: error.rule ?? error.code,
      class: null,
      level: null,
      runs: null,
      reason: error.message,
      change: error.hint ?? null,
    };
  }
}
