import { execFile } from "node:child_process";
import { findRipgrep } from "../../engines/search/index.ts";
import type { Finding } from "../findings.ts";

const WAIT_MS = 5000;

/** bin/llmc found it, so it is new enough; which one it is matters when something else is strange. */
export function nodeFinding(): Finding {
  const own = /\/node-linux-(x64|arm64)\//.test(process.execPath) ? "installed with llmc" : process.execPath;
  return { level: "ok", about: "node", text: `${process.versions.node} (${own})` };
}

export async function ripgrepFinding(path: string, signal: AbortSignal): Promise<Finding[]> {
  for (const { command, prefix, slow } of findRipgrep(path)) {
    const version = await firstLine(command, [...prefix, "--version"], path, signal);
    if (version === undefined) continue;
    if (!slow) return [{ level: "ok", about: "ripgrep", text: version }];
    const mend = "Install ripgrep for searches that are many times faster.";
    return [{ level: "warning", about: "ripgrep", text: `${version}, as WebAssembly. ${mend}` }];
  }
  return [{ level: "error", about: "ripgrep", text: "None runs here: searches will fail. Install ripgrep." }];
}

export async function gitFinding(path: string, signal: AbortSignal): Promise<Finding[]> {
  const version = await firstLine("git", ["--version"], path, signal);
  return version === undefined
    ? [{ level: "warning", about: "git", text: "not installed: run_cmd cannot answer git questions. Install git." }]
    : [{ level: "ok", about: "git", text: version }];
}

function firstLine(command: string, args: string[], path: string, signal: AbortSignal): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile(command, args, { signal, timeout: WAIT_MS, env: { PATH: path } }, (error, stdout) =>
      resolve(error ? undefined : stdout.split("\n")[0]!.trim()),
    );
  });
}
