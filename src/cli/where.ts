import { Fault } from "../base/fault.ts";
import { type Loaded, loadConfig } from "../config/load.ts";
import { type Invocation, textFlag } from "./command.ts";

/** What every command that needs a repository reads from its flags. `more` are keys that a command has flags of its own for. */
export function loadFor(invocation: Invocation, more: Readonly<Record<string, unknown>> = {}): Loaded {
  return loadConfig({
    cwd: invocation.terminal.cwd,
    env: invocation.terminal.env,
    root: textFlag(invocation, "root"),
    config: textFlag(invocation, "config"),
    cli: {
      "mcp.mode": textFlag(invocation, "mode"),
      "mcp.observability.log_level": textFlag(invocation, "log-level"),
      "mcp.server.host": textFlag(invocation, "host"),
      "mcp.server.port": numberFlag(invocation, "port"),
      ...more,
    },
  });
}

/** For commands that make one call: before a person its answer is enough, and of the log only what is wrong. */
export function loadForCall(invocation: Invocation): Loaded {
  return loadFor(invocation, invocation.terminal.is_tty ? { "mcp.observability.log_level": "warn" } : {});
}

function numberFlag(invocation: Invocation, name: string): number | undefined {
  const text = textFlag(invocation, name);
  if (text === undefined) return undefined;
  if (!/^\d+$/.test(text)) throw new Fault("invalid_args", `--${name} takes a whole number.`);
  return Number(text);
}
