import { accessSync, constants, existsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { createApp } from "../app.ts";
import { asFault, Fault } from "../base/fault.ts";
import type { Loaded } from "../config/load.ts";
import { faultText } from "../core/reply.ts";
import type { Invocation } from "./command.ts";
import { loadFor } from "./where.ts";

export interface Finding {
  readonly level: "ok" | "warning" | "error";
  readonly about: string;
  readonly text: string;
}

/** 0: all well. 1: something must be mended. Warnings alone do not fail. */
export async function run(invocation: Invocation): Promise<number> {
  const findings = await validate(invocation);
  const { out } = invocation.terminal;
  if (invocation.flags["json"])
    out(`${JSON.stringify({ ok: findings.every(({ level }) => level !== "error"), findings }, null, 2)}\n`);
  else for (const { level, about, text } of findings) out(`${MARK[level]} ${about.padEnd(9)} ${text}\n`);
  return findings.some(({ level }) => level === "error") ? 1 : 0;
}

const MARK = { ok: "✓", warning: "!", error: "✗" } as const;

async function validate(invocation: Invocation): Promise<Finding[]> {
  let loaded: Loaded;
  try {
    loaded = loadFor(invocation);
  } catch (error) {
    return [failed("config", error)];
  }
  const findings: Finding[] = [
    { level: "ok", about: "root", text: `${loaded.root} (by ${loaded.root_by})` },
    { level: "ok", about: "config", text: loaded.file ?? "no llmc.toml: defaults, hybrid mode" },
    ...rootFindings(loaded),
    ...stateFindings(loaded),
  ];
  if (!loaded.config.mcp.enabled)
    findings.push({ level: "warning", about: "mcp", text: "mcp.enabled is false: llmc serve will refuse." });
  try {
    const app = createApp(loaded);
    findings.push({
      level: "ok",
      about: "mode",
      text: `${app.mode.name}: ${app.tools().length} tools listed, ${app.mode.nested.length} callable`,
    });
    for (const warning of app.warnings()) findings.push({ level: "warning", about: "config", text: warning });
    findings.push(...(await gateFindings(app)), await indexFinding(app));
    await app.close();
  } catch (error) {
    findings.push(failed("start", error));
  }
  return findings;
}

/** Whether the command policies hold, and what project code would be shut in by. */
async function gateFindings(app: ReturnType<typeof createApp>): Promise<Finding[]> {
  if (!app.loaded.config.mcp.tools.enable_run_cmd)
    return [{ level: "ok", about: "commands", text: "mcp.tools.enable_run_cmd is false: nothing runs" }];
  const { level, reason } = await (await app.engines.exec()).isolation();
  if (level !== "none")
    return [
      { level: level === "host" ? "warning" : "ok", about: "commands", text: `project code runs at level ${level}` },
    ];
  const mend = "Install bubblewrap, or set LLMC_ISOLATED=1 where the machine is a box of its own.";
  return [
    { level: "warning", about: "commands", text: `project code will be refused: ${reason ?? "no sandbox"}. ${mend}` },
  ];
}

async function indexFinding(app: ReturnType<typeof createApp>): Promise<Finding> {
  const { index } = await app.health();
  return {
    level: "ok",
    about: "index",
    text: index === "none" ? "none yet: llmc index makes one, or the first search" : index,
  };
}

function failed(about: string, error: unknown): Finding {
  const fault = asFault(error);
  return { level: "error", about, text: faultText(fault) };
}

function rootFindings(loaded: Loaded): Finding[] {
  if (loaded.enforce_roots && loaded.allowed_roots.length === 0)
    return [
      { level: "warning", about: "roots", text: "mcp.tools.allowed_roots is empty: file tools can reach nothing." },
    ];
  const findings = loaded.allowed_roots.map((root): Finding => {
    if (!existsSync(root))
      return {
        level: "error",
        about: "roots",
        text: `${root} does not exist. Create it, or take it out of mcp.tools.allowed_roots.`,
      };
    if (!statSync(root).isDirectory()) return { level: "error", about: "roots", text: `${root} is not a folder.` };
    return root === "/"
      ? { level: "warning", about: "roots", text: "/ is allowed: tools can reach the whole disk." }
      : { level: "ok", about: "roots", text: root };
  });
  if (!loaded.enforce_roots)
    findings.push({
      level: "warning",
      about: "roots",
      text: "enforce_roots is false: tools can reach every path that is not denied.",
    });
  return findings;
}

function stateFindings(loaded: Loaded): Finding[] {
  let place = loaded.state_dir;
  while (!existsSync(place)) place = dirname(place);
  try {
    accessSync(place, constants.W_OK);
    return [{ level: "ok", about: "state", text: loaded.state_dir }];
  } catch {
    return [
      failed(
        "state",
        new Fault("permission_denied", `${loaded.state_dir} cannot be written.`, {
          hint: "Set mcp.state_dir or LLMC_STATE_DIR to a folder that can.",
        }),
      ),
    ];
  }
}
