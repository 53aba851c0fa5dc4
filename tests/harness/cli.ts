import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

/** The built binary, as a user starts it. */
export const BINARY = fileURLToPath(new URL("../../bin/llmc", import.meta.url));

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the binary to its end. Its environment holds nothing of the test's but what a shell has. */
export function runBinary(
  args: readonly string[],
  options: { cwd?: string; input?: string; env?: Record<string, string> } = {},
): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const child = spawn(BINARY, args, { cwd: options.cwd, env: plainEnv(options.env), stdio: "pipe" });
    let stdout = "";
    let stderr = "";
    child.stdout.on("data", (chunk: Buffer) => (stdout += chunk));
    child.stderr.on("data", (chunk: Buffer) => (stderr += chunk));
    child.stdin.end(options.input ?? "");
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, stdout, stderr }));
  });
}

export function plainEnv(more: Record<string, string> = {}): Record<string, string> {
  const kept = Object.entries(process.env).filter(([name]) =>
    ["PATH", "HOME", "LANG", "TMPDIR", "XDG_CACHE_HOME"].includes(name),
  );
  return { ...(Object.fromEntries(kept) as Record<string, string>), ...more };
}
