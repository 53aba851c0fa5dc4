import { accessSync, constants, existsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import type { App } from "../app.ts";
import { asFault, Fault } from "../base/fault.ts";
import type { Loaded } from "../config/load.ts";
import { faultText } from "../core/reply.ts";
import type { Terminal } from "./command.ts";

/** One thing that was looked at: well, or what to do about it. */
export interface Finding {
  readonly level: "ok" | "warning" | "error";
  readonly about: string;
  readonly text: string;
}

const MARK = { ok: "✓", warning: "!", error: "✗" } as const;
const COLOUR = { ok: 32, warning: 33, error: 31 } as const;

export function findingLine({ level, about, text }: Finding, width: number, { is_tty, env }: Terminal): string {
  const mark = is_tty && !env["NO_COLOR"] ? `\u001b[${COLOUR[level]}m${MARK[level]}\u001b[0m` : MARK[level];
  return `${mark} ${about.padEnd(width)} ${text}\n`;
}

export function failed(about: string, error: unknown): Finding {
  return { level: "error", about, text: faultText(asFault(error)) };
}

export function rootFindings(loaded: Loaded): Finding[] {
  if (loaded.enforce_roots && loaded.allowed_roots.length === 0)
    return [
      { level: "warning", about: "roots", text: "mcp.tools.allowed_roots is empty: file tools can reach nothing." },
    ];
  const findings = loaded.allowed_roots.map(rootFinding);
  if (!loaded.enforce_roots)
    findings.push({
      level: "warning",
      about: "roots",
      text: "enforce_roots is false: tools can reach every path that is not denied.",
    });
  return findings;
}

function rootFinding(root: string): Finding {
  if (!existsSync(root))
    return {
      level: "error",
      about: "roots",
      text: `${root} does not exist. Create it, or take it out of mcp.tools.allowed_roots.`,
    };
  if (!statSync(root).isDirectory()) return { level: "error", about: "roots", text: `${root} is not a folder.` };
  if (!may(root, constants.R_OK | constants.X_OK))
    return { level: "error", about: "roots", text: `${root} cannot be read by this user. Grant it, or take it out.` };
  if (root === "/") return { level: "warning", about: "roots", text: "/ is allowed: tools can reach the whole disk." };
  return may(root, constants.W_OK)
    ? { level: "ok", about: "roots", text: root }
    : { level: "warning", about: "roots", text: `${root} cannot be written by this user: tools can only read.` };
}

function may(path: string, access: number): boolean {
  try {
    accessSync(path, access);
    return true;
  } catch {
    return false;
  }
}

export function stateFindings(loaded: Loaded): Finding[] {
  let place = loaded.state_dir;
  while (!existsSync(place)) place = dirname(place);
  if (may(place, constants.W_OK)) return [{ level: "ok", about: "state", text: loaded.state_dir }];
  const fault = new Fault("permission_denied", `${loaded.state_dir} cannot be written.`, {
    hint: "Set mcp.state_dir or LLMC_STATE_DIR to a folder that can.",
  });
  return [failed("state", fault)];
}

/** What project code would be shut in by. */
export async function gateFindings(app: App): Promise<Finding[]> {
  if (!app.loaded.config.mcp.tools.enable_run_cmd)
    return [{ level: "ok", about: "commands", text: "mcp.tools.enable_run_cmd is false: nothing runs" }];
  const { level, reason } = await (await app.engines.exec()).isolation();
  if (level !== "none")
    return [
      { level: level === "host" ? "warning" : "ok", about: "commands", text: `project code runs at level ${level}` },
    ];
  const mend = "Install bubblewrap, or set LLMC_ISOLATED=1 where the machine is a box of its own.";
  const why = (reason ?? "no sandbox").slice(0, 90).replace(/[\s(]*$/, "");
  return [{ level: "warning", about: "commands", text: `project code will be refused: ${why}. ${mend}` }];
}

export async function indexFinding(app: App): Promise<Finding> {
  const { index } = await app.health();
  return {
    level: "ok",
    about: "index",
    text: index === "none" ? "none yet: llmc index makes one, or the first search" : index,
  };
}
