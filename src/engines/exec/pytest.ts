import { constants, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import type { AllowedCommand } from "../../base/command.ts";
import { Fault } from "../../base/fault.ts";
import { PRIVATE } from "./bwrap.ts";
import { readJunit, type TestReport } from "./junit.ts";
import type { RunRequest, RunResult } from "./run.ts";

export interface PytestReport extends TestReport {
  readonly handle: string | undefined;
  readonly exit_code: number;
}

interface PytestFacts {
  readonly state_dir: string;
  allow(argv: readonly string[]): Promise<AllowedCommand>;
  run(command: AllowedCommand, request: RunRequest): Promise<RunResult>;
}

const MAX_REPORT = 32 * 1024 * 1024;
/** pytest: 0 all passed, 1 some failed, 5 none found. Others are troubles of its own. */
const ORDINARY = new Set([0, 1, 5]);

/** Runs pytest and reads the report that it writes to a folder of ours. */
export async function runPytest(
  facts: PytestFacts,
  args: readonly string[],
  request: Omit<RunRequest, "private_dir">,
): Promise<PytestReport> {
  const parent = join(facts.state_dir, "exec");
  mkdirSync(parent, { recursive: true, mode: 0o700 });
  const dir = mkdtempSync(join(parent, "pytest-"));
  try {
    // Ours come last: of two, pytest takes the later.
    const probe = await facts.allow(["pytest", ...args]);
    const shownDir = probe.level === "bwrap" ? PRIVATE : dir;
    const command = await facts.allow([
      "pytest",
      ...args,
      `--junitxml=${shownDir}/report.xml`,
      "-o",
      "junit_family=xunit1",
      "-o",
      "cache_dir=/tmp/llmc-pytest-cache",
    ]);
    const result = await facts.run(command, { ...request, private_dir: dir, keep_always: true });
    request.signal.throwIfAborted();
    if (result.timed_out)
      throw new Fault("timeout", `pytest did not finish in ${request.timeout_s} s.`, {
        hint: `Raise timeout_s or name fewer tests.${result.handle ? ` Its output so far: ${result.handle}` : ""}`,
      });
    const xml = await readReport(join(dir, "report.xml"));
    if (xml === undefined) throw noReport(result);
    const report = readJunit(xml);
    if (!ORDINARY.has(result.exit_code) && report.failures.length === 0) throw noReport(result);
    return { ...report, handle: result.handle, exit_code: result.exit_code };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

async function readReport(path: string): Promise<string | undefined> {
  try {
    // The tests could have put anything in its place: a link is not followed, a pipe is not waited for.
    await using file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const stat = await file.stat();
    if (!stat.isFile() || stat.size > MAX_REPORT) return undefined;
    return await file.readFile("utf8");
  } catch {
    return undefined;
  }
}

function noReport(result: RunResult): Fault {
  const said = (result.stderr.trim() || result.stdout.trim()).split("\n").slice(-5).join("\n").slice(-600);
  return new Fault(
    "invalid_args",
    `pytest wrote no report (exit code ${result.exit_code}).${said ? `\n${said}` : ""}`,
    {
      ...(result.handle ? { hint: `Its whole output: ${result.handle}` } : {}),
    },
  );
}
