import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { accessSync, constants, existsSync, lstatSync, readlinkSync, realpathSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import type { SelfTest } from "./child/protocol.ts";
import type { Isolation } from "./types.ts";

interface LaunchFacts {
  readonly child: string;
  readonly readable: readonly string[];
  /** Where bubblewrap is looked for. */
  readonly path: string;
}

/** Starts the child at one level. It gets no environment, no working directory of ours and no right but to read its own program. */
export function launch(level: Isolation, facts: LaunchFacts): ChildProcessWithoutNullStreams {
  const readable = facts.readable.map((path) => realpathSync(path));
  const node = [
    "--permission",
    "--allow-worker",
    ...readable.map((path) => `--allow-fs-read=${path}`),
    "--no-warnings",
    "--disable-proto=throw",
    "--disallow-code-generation-from-strings",
    "--no-addons",
    "--max-semi-space-size=1",
    "--expose-gc",
    realpathSync(facts.child),
  ];
  const [command, args] =
    level === "bwrap"
      ? [findBwrap(facts.path) ?? "bwrap", [...bwrapArguments(readable), process.execPath, ...node]]
      : [process.execPath, node];
  return spawn(command, args, { cwd: "/", env: {}, stdio: ["pipe", "pipe", "pipe"], detached: true });
}

export function findBwrap(path: string): string | undefined {
  return path
    .split(delimiter)
    .filter(isAbsolute)
    .map((dir) => join(dir, "bwrap"))
    .find((file) => {
      try {
        accessSync(file, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}

/** Why the level is not what it says it is, or nothing. */
export function breach(level: Isolation, test: SelfTest): string | undefined {
  if (test.reads_outside) return "it could read files";
  if (test.writes) return "it could write files";
  if (test.spawns) return "it could start programs";
  if (test.environment) return "it has an environment";
  if (level === "bwrap" && test.network) return "it has a network";
  return undefined;
}

/** Of the system only what the loader needs; of the disk only the child's own program. */
function bwrapArguments(readable: readonly string[]): string[] {
  const system = ["/usr/lib", "/usr/lib64", "/lib", "/lib64"].flatMap((path) => {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (!stat) return [];
    return stat.isSymbolicLink() ? ["--symlink", readlinkSync(path), path] : ["--ro-bind", path, path];
  });
  const own = [realpathSync(process.execPath), ...readable].filter(existsSync);
  return [
    "--unshare-all",
    "--die-with-parent",
    "--new-session",
    "--cap-drop",
    "ALL",
    "--hostname",
    "sandbox",
    "--clearenv",
    ...system,
    "--dev",
    "/dev",
    ...own.flatMap((path) => ["--ro-bind", path, path]),
    ...(process.execPath === realpathSync(process.execPath)
      ? []
      : ["--ro-bind", realpathSync(process.execPath), process.execPath]),
    "--remount-ro",
    "/",
    "--chdir",
    "/",
    "--",
  ];
}
