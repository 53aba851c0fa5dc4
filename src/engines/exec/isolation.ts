import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, readlinkSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CommandClass, IsolationLevel } from "../../base/command.ts";
import { Fault } from "../../base/fault.ts";
import type { SandboxRun } from "./bwrap.ts";

export interface IsolationReport {
  /** What project code gets; `none`: it is refused. */
  readonly level: "bwrap" | "isolated" | "host" | "none";
  /** Why bubblewrap is not used, when it is not. */
  readonly reason: string | null;
  /** Found, told, and never taken for isolation. */
  readonly container: string | null;
  /** What is known to leave no process behind. */
  readonly orphans: "none" | "process group";
}

export interface Isolation {
  report(): Promise<IsolationReport>;
  /** The level a command runs at; refuses project code when no level is reached. */
  levelFor(commandClass: CommandClass, walled: boolean): Promise<IsolationLevel>;
}

interface IsolationFacts {
  /** Absolute path of bubblewrap, or undefined when it is not installed. */
  readonly bwrap: string | undefined;
  readonly sandbox: (run: SandboxRun) => string[];
  readonly network: boolean;
  readonly isolated: boolean;
  readonly trust: "sandbox" | "host";
}

/** Tests bubblewrap once, on first need, by trying from inside what must fail. */
export function createIsolation(facts: IsolationFacts): Isolation {
  let tested: Promise<string | null> | undefined;
  let container: string | null | undefined;
  const test = () => (tested ??= selfTest(facts));

  async function report(): Promise<IsolationReport> {
    const reason = await test();
    const level = reason === null ? "bwrap" : facts.isolated ? "isolated" : facts.trust === "host" ? "host" : "none";
    return {
      level,
      reason,
      container: container === undefined ? (container = detectContainer()) : container,
      orphans: level === "bwrap" ? "none" : "process group",
    };
  }

  return {
    report,
    async levelFor(commandClass, walled) {
      if (commandClass === "reader" && !walled) return "process";
      const { level, reason } = await report();
      if (commandClass === "reader") return level === "bwrap" ? "bwrap" : "process";
      if (level !== "none") return level;
      throw new Fault("isolation_required", `This runs project code, and there is no sandbox for it: ${reason}.`, {
        hint: 'Install bubblewrap, or set LLMC_ISOLATED=1 in a container made for this, or run_cmd_trust = "host" in [mcp.tools].',
        rule: "isolation",
      });
    },
  };
}

const PROBE = `
cat "$1" 2>/dev/null && echo LEAK-READ
( : > "$2" ) 2>/dev/null && echo LEAK-WRITE
[ -w /usr ] && echo LEAK-SYSTEM
[ -r /proc/$3/environ ] && grep -qz . /proc/$3/environ 2>/dev/null && [ "$(readlink /proc/$3/ns/pid)" != "$(readlink /proc/self/ns/pid)" ] && echo LEAK-PROC
echo "pid $(readlink /proc/self/ns/pid)"
echo "net $(readlink /proc/self/ns/net)"
echo done
`;

/** Null when the sandbox holds, else why it does not. */
async function selfTest(facts: IsolationFacts): Promise<string | null> {
  if (facts.bwrap === undefined) return "bubblewrap (bwrap) is not installed";
  const dir = mkdtempSync(join(realpathSync(tmpdir()), "llmc-selftest-"));
  try {
    const canary = join(dir, "canary");
    writeFileSync(canary, "CANARY");
    const options = facts.sandbox({ cwd: "/", names: [], roots: "read" });
    const probe = ["/bin/sh", "-c", PROBE, "sh", canary, join(dir, "written"), String(process.pid)];
    const output = await outputOf(facts.bwrap, [...options, "--", ...probe]);
    return (
      verdict(output, facts.network) ??
      (existsSync(join(dir, "written")) ? "bubblewrap let a write outside through" : null)
    );
  } catch (error) {
    return `bubblewrap does not work here (${firstLine(error)})`;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

function verdict(output: string, network: boolean): string | null {
  if (!output.includes("\ndone")) return "the self-test of bubblewrap did not finish";
  if (/LEAK|CANARY/.test(output))
    return `bubblewrap is not tight here (${/LEAK-\w+/.exec(output)?.[0] ?? "LEAK-READ"})`;
  const inside = (kind: string) => new RegExp(`${kind} (${kind}:\\[\\d+\\])`).exec(output)?.[1];
  if (inside("pid") === undefined || inside("pid") === readlinkSync("/proc/self/ns/pid"))
    return "no process namespace of its own";
  if (!network && (inside("net") === undefined || inside("net") === readlinkSync("/proc/self/ns/net")))
    return "no network namespace of its own";
  return null;
}

function outputOf(file: string, args: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(
      file,
      args,
      { timeout: 10_000, killSignal: "SIGKILL", maxBuffer: 65_536, env: { PATH: "/usr/bin:/bin" } },
      (error, stdout, stderr) => {
        if (error && !stdout.includes("done")) reject(new Error(stderr || error.message));
        else resolve(`\n${stdout}`);
      },
    );
  });
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split("\n")[0]!.slice(0, 200);
}

function detectContainer(): string | null {
  if (existsSync("/.dockerenv")) return "docker";
  if (existsSync("/run/.containerenv")) return "podman";
  try {
    return /(docker|kubepods|containerd|lxc)/.exec(readFileSync("/proc/1/cgroup", "utf8"))?.[1] ?? null;
  } catch {
    return null;
  }
}
