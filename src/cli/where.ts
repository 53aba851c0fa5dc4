import { type Loaded, loadConfig } from "../config/load.ts";
import { type Invocation, textFlag } from "./command.ts";

/** What every command that needs a repository reads from its flags. */
export function loadFor(invocation: Invocation): Loaded {
  return loadConfig({
    cwd: invocation.terminal.cwd,
    env: invocation.terminal.env,
    root: textFlag(invocation, "root"),
    config: textFlag(invocation, "config"),
    cli: { "mcp.mode": textFlag(invocation, "mode"), "mcp.observability.log_level": textFlag(invocation, "log-level") },
  });
}
