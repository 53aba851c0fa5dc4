import { asFault } from "./base/fault.ts";
import { runTe } from "./cli/te.ts";
import { faultText } from "./core/reply.ts";

/** Where te meets its process: argv, streams, exit. */
async function main(): Promise<void> {
  const code = await ended();
  process.exitCode = code;
  if ([...used].every((stream) => stream.writableLength === 0)) process.exit(code);
}

const used = new Set<NodeJS.WriteStream>();

/** A stream is made when something is written to it: a silent command needs none. */
function write(stream: "stdout" | "stderr", text: string | Uint8Array): void {
  if (text.length === 0) return;
  used.add(process[stream]);
  process[stream].write(text);
}

async function ended(): Promise<number> {
  try {
    return await runTe(process.argv.slice(2), {
      cwd: process.cwd(),
      env: process.env,
      is_tty: false,
      out: (text) => write("stdout", text),
      err: (text) => write("stderr", text),
    });
  } catch (error) {
    process.stderr.write(`te: ${faultText(asFault(error))}\n`);
    return 2;
  }
}

void main();
