import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import type { AllowedCommand } from "../../base/command.ts";
import { Fault } from "../../base/fault.ts";
import type { SandboxRun } from "./bwrap.ts";
import { childEnvironment, type EnvironmentFacts, type SessionFacts } from "./environment.ts";
import type { Network } from "./network.ts";
import type { Shield } from "./shield.ts";
import { ending, kill } from "./signals.ts";
import type { Watchdog } from "./watchdog.ts";

export interface LaunchFacts {
  readonly bwrap: string | undefined;
  readonly sandbox: (run: SandboxRun) => string[];
  readonly shield: Shield;
  readonly watchdog: Watchdog;
  readonly environment: EnvironmentFacts;
}

export interface LaunchRequest {
  readonly stdio: StdioOptions;
  readonly session?: SessionFacts | undefined;
  /** A network that other processes of the caller are in. */
  readonly network?: Network | undefined;
  readonly private_dir?: string | undefined;
  /** A wrapper around the program, inside whatever holds it. */
  readonly wrap?: (file: string, args: readonly string[]) => { file: string; args: readonly string[] };
}

export interface Launched {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly in_sandbox: boolean;
  /** When it ended. Never rejects. */
  readonly ended: Promise<{ exit_code: number; signal: string | null }>;
}

/** Starts an allowed command in a group of its own, at its level. Nothing of it is left when it has ended. */
export async function launch(facts: LaunchFacts, command: AllowedCommand, request: LaunchRequest): Promise<Launched> {
  const program = request.wrap?.(command.file, command.args) ?? { file: command.file, args: command.args };
  const in_sandbox = command.level === "bwrap";
  const held = in_sandbox ? facts.shield.hold() : undefined;
  try {
    const words = held ? sandboxed(facts, command, request, program, held.names) : [program.file, ...program.args];
    const child = spawn(words[0]!, words.slice(1), {
      cwd: in_sandbox ? "/" : command.cwd,
      env: childEnvironment(facts.environment, command, request.session),
      stdio: request.stdio,
      detached: true,
    });
    const ended = whenEnded(facts, child, in_sandbox, () => held?.[Symbol.dispose]());
    if (child.pid === undefined) throw await spawnFault(child, command);
    if (!in_sandbox) facts.watchdog.watch(child.pid);
    return { child, pid: child.pid, in_sandbox, ended };
  } catch (error) {
    held?.[Symbol.dispose]();
    throw error;
  }
}

function sandboxed(
  facts: LaunchFacts,
  command: AllowedCommand,
  request: LaunchRequest,
  program: { file: string; args: readonly string[] },
  names: SandboxRun["names"],
): string[] {
  const args = facts.sandbox({
    cwd: command.cwd,
    file: program.file,
    args: program.args,
    names,
    roots: command.class === "reader" ? "read" : "write",
    keep_network: request.network !== undefined,
    ...(request.private_dir === undefined ? {} : { private_dir: request.private_dir }),
  });
  return [...(request.network?.enter ?? []), facts.bwrap!, ...args];
}

function whenEnded(
  facts: LaunchFacts,
  child: ChildProcess,
  in_sandbox: boolean,
  release: () => void,
): Launched["ended"] {
  return new Promise((resolve) => {
    const done = (code: number | null, signal: NodeJS.Signals | null) => {
      if (child.pid !== undefined) {
        // What the program left behind in its group goes with it.
        kill(-child.pid, "SIGKILL");
        if (!in_sandbox) facts.watchdog.unwatch(child.pid);
      }
      release();
      resolve(ending(code, signal, in_sandbox));
    };
    child.once("exit", done);
    child.once("error", () => {
      if (child.pid === undefined) done(127, null);
    });
  });
}

function spawnFault(child: ChildProcess, command: AllowedCommand): Promise<Fault> {
  return new Promise((resolve) => {
    child.once("error", (error: NodeJS.ErrnoException) => {
      const why =
        error.code === "E2BIG"
          ? "its arguments are too long"
          : error.code === "EACCES"
            ? "it may not be executed"
            : "it could not be started";
      const code =
        error.code === "EAGAIN" || error.code === "EMFILE" || error.code === "ENOMEM"
          ? "resource_busy"
          : "invalid_args";
      resolve(new Fault(code, `${command.name}: ${why}.`, { cause: error }));
    });
  });
}
