import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type * as z from "zod";
import { createRoots, type Roots } from "../../base/path/index.ts";
import { mintPrincipal } from "../../base/principal.ts";
import { createExec, type Exec, type ExecDeps, type RunRequest, type RunResult } from "./index.ts";
import { execOptions } from "./options.ts";
import { allPids, procStat } from "./proc.ts";

export const ME = mintPrincipal("local", 0);
export const OTHER = mintPrincipal("token", "other");

export interface TestExec extends AsyncDisposable {
  readonly exec: Exec;
  readonly root: string;
  readonly roots: Roots;
  readonly state_dir: string;
  /** A folder beside the root, which nothing may reach. */
  readonly outside: string;
  run(command: string | readonly string[], request?: Partial<RunRequest> & { cwd?: string }): Promise<RunResult>;
}

/** A real engine on a folder of its own. */
export function testExec(options: z.input<typeof execOptions> = {}, deps: Partial<ExecDeps> = {}): TestExec {
  const base = mkdtempSync(join(realpathSync(tmpdir()), "llmc-exec-"));
  const root = join(base, "root");
  const outside = join(base, "outside");
  const state_dir = join(root, ".llmc");
  for (const dir of [root, outside, state_dir]) mkdirSync(dir);
  const roots = createRoots({ roots: [root], state_dir });
  const exec = createExec(execOptions.parse(options), {
    roots,
    state_dir,
    isolated: false,
    path: process.env.PATH ?? "",
    env: process.env,
    ...deps,
  });
  return {
    exec,
    root,
    roots,
    state_dir,
    outside,
    async run(command, { cwd, ...request } = {}) {
      const allowed = await exec.allow(typeof command === "string" ? { command, cwd } : { argv: command, cwd });
      return exec.run(ME, allowed, { timeout_s: 30, signal: new AbortController().signal, ...request });
    },
    async [Symbol.asyncDispose]() {
      await exec.close();
      rmSync(base, { recursive: true, force: true });
    },
  };
}

/** Living processes whose command line holds this text. */
export function processesWith(text: string): number[] {
  return allPids().filter((pid) => {
    const stat = procStat(pid);
    return stat !== undefined && stat.state !== "Z" && pid !== process.pid && cmdline(pid).includes(text);
  });
}

function cmdline(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "latin1");
  } catch {
    return "";
  }
}

/** Whether no process with this text in its command line is left, now or soon. */
export async function gone(text: string): Promise<boolean> {
  for (let tries = 0; tries < 600; tries++) {
    if (processesWith(text).length === 0) return true;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return false;
}

/** Waits until a process with this text is there. */
export async function there(text: string, count = 1): Promise<boolean> {
  for (let tries = 0; tries < 600; tries++) {
    if (processesWith(text).length >= count) return true;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return false;
}
