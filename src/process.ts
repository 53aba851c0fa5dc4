import { runCommand } from "./cli/run.ts";

/** The only place where the process meets the program: its argv, its streams, its exit. */
export async function main(): Promise<void> {
  const code = await runCommand(process.argv.slice(2), {
    cwd: process.cwd(),
    env: process.env,
    is_tty: process.stdout.isTTY === true,
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
  });
  process.exitCode = code;
  // What is still open (a pipe nobody reads, a child that is slow to end) must not keep a finished command alive.
  if (process.stdout.writableLength === 0 && process.stderr.writableLength === 0) process.exit(code);
  setTimeout(() => process.exit(code), 1000).unref();
}
