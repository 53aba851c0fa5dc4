import { type ChildProcess, spawn } from "node:child_process";
import type { Writable } from "node:stream";
import type { AllowedCommand } from "../../base/command.ts";
import { Fault } from "../../base/fault.ts";
import type { SandboxRun } from "./bwrap.ts";
import { childEnvironment, type EnvironmentFacts, type SessionFacts } from "./environment.ts";
import type { Network } from "./network.ts";
import type { Held, Shield } from "./shield.ts";
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
  readonly stdio: readonly ["pipe" | "ignore", "pipe", "pipe"];
  readonly session?: SessionFacts | undefined;
  /** A network that other processes of the caller are in. */
  readonly network?: Network | undefined;
  readonly private_dir?: string | undefined;
  /** Project code whose whole output is wanted and that nobody talks to: see FIRST_DRAINED. */
  readonly drained?: boolean;
  /** A wrapper around the program, inside whatever holds it. */
  readonly wrap?: (file: string, args: readonly string[]) => { file: string; args: readonly string[] };
}

export interface Launched {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly in_sandbox: boolean;
  /** When it ended. Never rejects. */
  readonly ended: Promise<Ended>;
}

export interface Ended {
  readonly exit_code: number;
  readonly signal: string | null;
  /** Names that it made and must not make: moved out of the roots. */
  readonly moved_away: readonly string[];
}

/** Starts an allowed command in a group of its own, at its level. Nothing of it is left when it has ended. */
export async function launch(facts: LaunchFacts, command: AllowedCommand, request: LaunchRequest): Promise<Launched> {
  const program = request.wrap?.(command.file, command.args) ?? { file: command.file, args: command.args };
  const in_sandbox = command.level === "bwrap";
  const { words, ticket } = in_sandbox ? sandboxed(facts, command, request, program) : onHost(command, program);
  const child = spawn(words[0]!, words.slice(1), {
    cwd: in_sandbox ? "/" : command.cwd,
    env: {
      ...childEnvironment(facts.environment, command, request.session),
      ...(in_sandbox ? {} : facts.watchdog.brand),
    },
    stdio: ticket ? [...request.stdio, "pipe"] : [...request.stdio],
    detached: true,
    // What a reader calls itself in its messages: its name is shorter than its path.
    ...(command.level === "process" && !request.wrap ? { argv0: command.name } : {}),
  });
  const held: Held[] = [];
  const ended = whenEnded(facts, child, in_sandbox, held);
  if (child.pid === undefined) throw await spawnFault(child, command);
  facts.watchdog.watch(child.pid);
  try {
    if (ticket) handOver(child.stdio[3] as Writable, await ticket((thing) => held.push(thing)));
  } catch (error) {
    kill(-child.pid, "SIGKILL");
    throw error;
  }
  return { child, pid: child.pid, in_sandbox, ended };
}

/**
 * A ticket is what a child waits for on descriptor 3 before it becomes the program. It is handed over when the watchdog knows the child: a
 * server that is killed in between leaves a child that reads an end of file and stops, instead of one that nobody watches.
 * It is made while the child starts, and may hold things until the child has ended.
 */
interface Start {
  readonly words: readonly string[];
  readonly ticket?: (hold: (thing: Held) => void) => Promise<string>;
}

type Program = { readonly file: string; readonly args: readonly string[] };

/** The ticket of a sandbox is its own options: without them it has no disk, and so no program to run. */
function sandboxed(facts: LaunchFacts, command: AllowedCommand, request: LaunchRequest, program: Program): Start {
  const writes = command.class !== "reader";
  const ticket = async (hold: (thing: Held) => void) => {
    const options = facts.sandbox({
      cwd: command.cwd,
      names: await (writes ? shielded(facts.shield, hold) : facts.shield.masks()),
      roots: writes ? "write" : "read",
      keep_network: request.network !== undefined,
      ...(request.private_dir === undefined ? {} : { private_dir: request.private_dir }),
    });
    return options.map((option) => `${option}\0`).join("");
  };
  const first = writes && request.drained ? FIRST_DRAINED : FIRST_INSIDE;
  const inside = ["/bin/sh", "-c", first, "sh", program.file, ...program.args];
  return { words: [...(request.network?.enter ?? []), facts.bwrap!, "--args", "3", "--", ...inside], ticket };
}

/**
 * Process 1 of the sandbox: starts the program, buries what its children leave, says nothing itself. bubblewrap's own does not wait to be
 * buried, so that each run would leave a zombie where nobody collects them, as in a container whose first process is this server.
 */
const FIRST_INSIDE = 'exec 4>&2 2>/dev/null; "$@" 2>&4 4>&-; exit $?';

/**
 * The same with real pipes, each emptied at once by a process of its own. What a child gets from Node is a socket, whose buffer is full after
 * two hundred short lines; a program that writes a log and exits without waiting, as many test runners do, would lose the rest. Whoever
 * still holds a pipe when the program has ended (a daemon it left) gets a third of a second. Signals are for the program: its last words
 * still have to go out.
 */
const FIRST_DRAINED = `exec 5>&1 4>&2 2>/dev/null
code=$(trap : TERM INT HUP
{ { trap : TERM INT HUP
{ trap : TERM INT HUP
  "$@" 2>&7 4>&- 5>&- 6>&-
  echo $? >&6
  exec >/dev/null 7>&- 6>&- 5>&- 4>&-
  { sleep 0.3; kill -s KILL -- -1; } &
} | { trap '' TERM INT HUP; exec cat >&5; }; } 7>&1 | { trap '' TERM INT HUP; exec cat >&4; }; } 6>&1)
exit "$code"`;

async function shielded(shield: Shield, hold: (thing: Held) => void): Promise<SandboxRun["names"]> {
  const held = await shield.hold();
  hold(held);
  return held.names;
}

const WAIT_FOR_TICKET = 'read -r go <&3 || exit 125; exec 3<&-; exec "$@"';

/** A reader starts without a ticket, which would cost it another program: it carries the server's brand instead. */
function onHost(command: AllowedCommand, program: Program): Start {
  const words = [program.file, ...program.args];
  if (command.class === "reader") return { words };
  return { words: ["/bin/sh", "-c", WAIT_FOR_TICKET, "sh", ...words], ticket: async () => "go\n" };
}

function handOver(pipe: Writable, ticket: string): void {
  // A child that is already gone needs none.
  pipe.on("error", () => {});
  pipe.end(ticket);
}

function whenEnded(
  facts: LaunchFacts,
  child: ChildProcess,
  in_sandbox: boolean,
  held: readonly Held[],
): Launched["ended"] {
  return new Promise((resolve) => {
    const done = async (code: number | null, signal: NodeJS.Signals | null) => {
      if (child.pid !== undefined) {
        // What the program left behind in its group goes with it.
        kill(-child.pid, "SIGKILL");
        facts.watchdog.unwatch(child.pid);
      }
      const moved_away = (await Promise.all(held.map((thing) => thing.release().catch(() => [])))).flat();
      resolve({ ...ending(code, signal, in_sandbox), moved_away });
    };
    child.once("exit", (code, signal) => void done(code, signal));
    child.once("error", () => {
      if (child.pid === undefined) void done(127, null);
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
