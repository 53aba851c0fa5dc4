import { spawn } from "node:child_process";
import { Fault } from "../../base/fault.ts";
import type { Ripgrep } from "./binary.ts";

interface RunOptions {
  /** Reached through a descriptor, so that it is the verified folder whatever its path has become. */
  readonly cwd?: string;
  readonly stdin?: number;
  /** Where the wasm build may keep its cache: not where others can write. */
  readonly tmp_dir: string;
  readonly signal: AbortSignal;
}

interface Ran {
  readonly code: number | null;
  readonly stderr: string;
  readonly stopped: boolean;
}

const STDERR_BYTES = 64 * 1024;

/** Runs ripgrep and hands its output on as it comes. `take` says when it has enough. Ends only after the process has ended. */
export function runRipgrep(
  rg: Ripgrep,
  argv: readonly string[],
  options: RunOptions,
  take: (chunk: Buffer) => "enough" | undefined,
): Promise<Ran> {
  const { signal } = options;
  if (signal.aborted) return Promise.reject(abandoned(signal));
  return new Promise((done, fail) => {
    const child = spawn(rg.command, [...rg.prefix, ...argv], {
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
      env: rg.slow ? { LC_ALL: "C.UTF-8", TMPDIR: options.tmp_dir } : { LC_ALL: "C.UTF-8" },
      stdio: [options.stdin ?? "ignore", "pipe", "pipe"],
    });
    let stderr = "";
    let stopped = false;
    let failure: unknown;

    const stop = () => {
      stopped = true;
      child.kill("SIGKILL");
      child.stdout!.destroy();
    };
    signal.addEventListener("abort", stop, { once: true });
    child.stdout!.on("data", (chunk: Buffer) => {
      try {
        if (!stopped && take(chunk) === "enough") stop();
      } catch (error) {
        failure = error;
        stop();
      }
    });
    child.stderr!.setEncoding("utf8").on("data", (text: string) => {
      if (stderr.length < STDERR_BYTES) stderr += text;
    });
    child.on("error", (error) => {
      failure ??= error;
    });
    child.on("close", (code) => {
      signal.removeEventListener("abort", stop);
      if (failure !== undefined) fail(failure);
      else if (signal.aborted) fail(abandoned(signal));
      else done({ code, stderr, stopped });
    });
  });
}

function abandoned(signal: AbortSignal): Fault {
  if (signal.reason instanceof Fault) return signal.reason;
  return new Fault("timeout", "The search was stopped before it was done.", {
    hint: "Search a smaller folder or fewer files.",
  });
}

/** What ripgrep said on standard error: a pattern it refuses, or files it could not read. */
export function judge(ran: Ran): { readonly unreadable: number } {
  const complaints = ran.stderr.split("\n").filter((line) => line.includes("(os error "));
  if (ran.code !== 2 || complaints.length > 0)
    return { unreadable: complaints.filter((line) => !line.includes("(os error 2)")).length };
  const message = ran.stderr.replace(/^rg: /, "").split("\n\nConsider enabling")[0]!.trimEnd();
  if (/regex|literal "\\n"|compiled|look-around|backreference/i.test(message))
    throw new Fault("invalid_args", `The pattern is not valid: ${message}`, {
      hint: "Linear-time regex within one line: no look-around, no backreferences, no newline. literal: true takes the pattern as it is.",
    });
  throw new Fault("internal_error", "The search failed.", { cause: new Error(message) });
}
