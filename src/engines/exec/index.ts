/** Commands: what may run, how it is held, and what becomes of its output. The gate mints, everything else takes what it minted. */
import { existsSync } from "node:fs";
import { homedir, userInfo } from "node:os";
import { basename, dirname, join } from "node:path";
import type { AllowedCommand } from "../../base/command.ts";
import { Fault } from "../../base/fault.ts";
import { BUILT_IN_DENIED_PATHS, type Roots } from "../../base/path/index.ts";
import type { Principal } from "../../base/principal.ts";
import { createSandbox } from "./bwrap.ts";
import { type Explanation, explain } from "./explain.ts";
import { type CommandRequest, createGate } from "./gate.ts";
import { createIsolation, type IsolationReport } from "./isolation.ts";
import type { LaunchFacts } from "./launch.ts";
import { createNetworks } from "./network.ts";
import type { ExecOptions } from "./options.ts";
import { createProcesses, type Processes } from "./processes.ts";
import { type PytestReport, runPytest } from "./pytest.ts";
import { createPrograms, isProgram, realOr } from "./resolve.ts";
import { type RunRequest, type RunResult, run } from "./run.ts";
import { createShield, hiddenNames } from "./shield.ts";
import { type Snapshot, takeSnapshot } from "./snapshot.ts";
import { killProcess, listProcesses, type ProcessRow } from "./table.ts";
import { createWatchdog } from "./watchdog.ts";

export type { SessionFacts } from "./environment.ts";
export type { Explanation } from "./explain.ts";
export type { CommandRequest } from "./gate.ts";
export type { IsolationReport } from "./isolation.ts";
export type { Keep } from "./keep.ts";
export type { ExecOptions } from "./options.ts";
export type { Processes, ProcessOutput } from "./processes.ts";
export type { PytestReport } from "./pytest.ts";
export type { RunRequest, RunResult } from "./run.ts";
export type { Snapshot } from "./snapshot.ts";
export type { ProcessRow } from "./table.ts";

export interface ExecDeps {
  readonly roots: Roots;
  /** The operator's rules (mcp.tools.denied_paths), as written, after the built-in ones. */
  readonly denied?: readonly string[];
  /** Absolute. */
  readonly state_dir: string;
  /** LLMC_ISOLATED=1: the operator says that the whole server runs in a place of its own. */
  readonly isolated: boolean;
  /** The server's PATH. */
  readonly path: string;
  /** The server's variables: only names on a fixed list reach a child. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly home?: string;
  /** Where bubblewrap is; null: do as if it were not installed. */
  readonly bwrap?: string | null;
}

export interface Exec {
  /** The gate. `run`, `start` and the rest take nothing that did not come from here. */
  allow(request: CommandRequest): Promise<AllowedCommand>;
  allowExecutable(name: string, args: readonly string[], cwd?: string): Promise<AllowedCommand>;
  explain(command: string): Promise<Explanation>;
  /** The timeout of a call: the configured one, or the one it asks for if that is not too long. */
  timeout(asked_s?: number): number;
  run(
    owner: Principal,
    command: AllowedCommand,
    request: Omit<RunRequest, "network" | "private_dir">,
  ): Promise<RunResult>;
  pytest(
    owner: Principal,
    args: readonly string[],
    cwd: string | undefined,
    request: Omit<RunRequest, "network" | "private_dir">,
  ): Promise<PytestReport>;
  readonly processes: Processes;
  list(owner: Principal, user: string | undefined, max_results: number): ProcessRow[];
  kill(owner: Principal, pid: number, signal: NodeJS.Signals): void;
  snapshot(signal: AbortSignal): Promise<Snapshot>;
  /** The level that project code reaches; tests it on first use. */
  isolation(): Promise<IsolationReport>;
  close(): Promise<void>;
}

export function createExec(options: ExecOptions, deps: ExecDeps): Exec {
  const home = deps.home ?? homedir();
  const state_dir = realPlace(deps.state_dir);
  const denied = [...BUILT_IN_DENIED_PATHS, ...(deps.denied ?? [])];
  const programs = createPrograms(deps.path, deps.roots.list);
  const bwrap = deps.bwrap === null ? undefined : (deps.bwrap ?? programs.system("bwrap"));
  const network = options.allow_outbound_network;
  const sandbox = createSandbox({
    bwrap: bwrap ?? "",
    roots: deps.roots.list,
    home,
    state_dir,
    program_dirs: programs.project_dirs,
    network,
  });
  const isolation = createIsolation({ bwrap, sandbox, network, isolated: deps.isolated, trust: options.run_cmd_trust });
  const hidden = hiddenNames(denied, deps.roots, state_dir);
  const gate = createGate({ options, roots: deps.roots, programs, isolation, hidden, ownProgram });
  // With the host's network there is nothing to share.
  const networks = createNetworks(network ? undefined : bwrap);
  const environment = {
    inherit: deps.env ?? {},
    home,
    user: userInfo().username,
    system_path: programs.system_path,
    project_path: programs.project_path,
  };
  const shield = createShield({ roots: deps.roots, denied, state_dir });
  const watchdog = createWatchdog(shield.holder);
  const facts: LaunchFacts = {
    bwrap,
    sandbox,
    shield,
    watchdog,
    environment,
  };
  const processes = createProcesses({
    launch: facts,
    networks,
    max_per_principal: options.proc_max,
    idle_timeout_s: options.proc_idle_timeout,
  });

  return {
    allow: gate.allow,
    allowExecutable: gate.allowExecutable,
    explain: (command) => explain(gate, command),
    timeout(asked_s) {
      if (asked_s === undefined) return Math.min(options.exec_timeout, options.exec_timeout_max);
      if (asked_s <= options.exec_timeout_max) return asked_s;
      throw new Fault("invalid_args", `timeout_s may be at most ${options.exec_timeout_max}.`, {
        hint: "Use linux_proc_start for what runs on and on.",
      });
    },
    run: (owner, command, request) =>
      run(facts, command, { ...request, network: command.level === "bwrap" ? networks.current(owner) : undefined }),
    pytest: (owner, args, cwd, request) =>
      runPytest(
        {
          state_dir,
          allow: (argv) => gate.allow({ argv, cwd }),
          run: (command, more) => run(facts, command, more),
        },
        args,
        { ...request, network: networks.current(owner) },
      ),
    processes,
    list: (owner, user, max_results) => listProcesses(owner, processes, user, max_results),
    kill: (owner, pid, signal) => killProcess(owner, processes, pid, signal, options.proc_kill_foreign),
    snapshot: (signal) => takeSnapshot([...deps.roots.list, "/"], signal),
    isolation: isolation.report,
    async close() {
      await processes.close();
      watchdog.close();
      shield.close();
    },
  };
}

/** ripgrep comes with us; looked for when it is first asked for. */
async function ownProgram(name: string): Promise<string | undefined> {
  if (name !== "rg") return undefined;
  const { rgPath } = await import("@vscode/ripgrep");
  return isProgram(rgPath) ? rgPath : undefined;
}

/** Where a folder really is, or will be: roots are real paths, and are compared with it. */
function realPlace(path: string): string {
  return existsSync(path) ? realOr(path) : join(realOr(dirname(path)), basename(path));
}
