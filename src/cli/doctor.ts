import { type App, createApp } from "../app.ts";
import type { Loaded } from "../config/load.ts";
import type { Invocation } from "./command.ts";
import { CHECKS } from "./doctor/checks.ts";
import { nodeFinding } from "./doctor/programs.ts";
import { type Finding, failed, findingLine, rootFindings, stateFindings } from "./findings.ts";
import { loadFor } from "./where.ts";

const WIDTH = 9;

/** Looks at everything that a working server needs. 0: all well; 1: something must be mended. Warnings alone do not fail. */
export async function run(invocation: Invocation): Promise<number> {
  const { terminal, flags } = invocation;
  const findings: Finding[] = [];
  // Told as it is found: some take a second.
  const tell = (finding: Finding) => {
    findings.push(finding);
    if (!flags["json"]) terminal.out(findingLine(finding, WIDTH, terminal));
  };
  await examine(invocation, tell);
  const ok = findings.every(({ level }) => level !== "error");
  if (flags["json"]) terminal.out(`${JSON.stringify({ ok, findings }, null, 2)}\n`);
  return ok ? 0 : 1;
}

async function examine(invocation: Invocation, tell: (finding: Finding) => void): Promise<void> {
  const cancel = new AbortController();
  process.once("SIGINT", () => cancel.abort());
  let loaded: Loaded | undefined;
  let app: App;
  try {
    loaded = loadFor(invocation);
    // What the checks do is no story for the log.
    app = createApp({ ...loaded, config: quiet(loaded) });
  } catch (error) {
    const before = loaded ? [...rootFindings(loaded), ...stateFindings(loaded)] : [];
    for (const finding of [nodeFinding(), ...before, failed(loaded ? "start" : "config", error)]) tell(finding);
    return;
  }
  try {
    for (const [about, check] of CHECKS) {
      if (cancel.signal.aborted) return;
      try {
        for (const finding of await check({ loaded, app, terminal: invocation.terminal, signal: cancel.signal }))
          tell(finding);
      } catch (error) {
        tell(failed(about, error));
      }
    }
  } finally {
    await app.close();
  }
}

function quiet({ config }: Loaded): Loaded["config"] {
  const observability = { ...config.mcp.observability, enabled: false };
  return { ...config, mcp: { ...config.mcp, observability } };
}
