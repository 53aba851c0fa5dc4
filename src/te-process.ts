import { asFault } from "./base/fault.ts";
import { runTe } from "./cli/te.ts";
import { faultText } from "./core/reply.ts";

/** Where te meets its process: argv, streams, exit. */
export async function main(): Promise<void> {
  const code = await ended();
  process.exitCode = code;
  if (process.stdout.writableLength === 0 && process.stderr.writableLength === 0) process.exit(code);
}

async function ended(): Promise<number> {
  try {
    return await runTe(process.argv.slice(2), {
      cwd: process.cwd(),
      env: process.env,
      is_tty: process.stdout.isTTY === true,
      out: (text) => void process.stdout.write(text),
      err: (text) => void (text.length > 0 && process.stderr.write(text)),
    });
  } catch (error) {
    process.stderr.write(`te: ${faultText(asFault(error))}\n`);
    return 2;
  }
}
