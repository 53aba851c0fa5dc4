import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { createApp } from "../../app.ts";
import { Fault } from "../../base/fault.ts";
import type { Loaded } from "../../config/load.ts";
import { type Invocation, textFlag } from "../command.ts";
import { loadFor } from "../where.ts";
import { report } from "./report.ts";

/** A recorded run again: the same code on the same text, with the answers of the recording and no network. */
export async function run(invocation: Invocation): Promise<number> {
  const { terminal, flags } = invocation;
  const loaded = loadFor(invocation);
  const recording = recordingOf(invocation, loaded);
  const { openRecording } = await import("../../engines/rlm/index.ts");
  const { path } = openRecording(recording).about;
  const app = createApp(loaded);
  const cancel = new AbortController();
  process.once("SIGINT", () => cancel.abort(new Fault("timeout", "Cancelled.")));
  try {
    const rlm = await app.engines.rlm();
    const result = await rlm.replay(recording, { context: textOf(invocation, loaded, path) }, cancel.signal);
    if (flags["json"]) terminal.out(`${JSON.stringify(result)}\n`);
    else report(terminal, result);
    return 0;
  } finally {
    await app.close();
  }
}

/** A file, or the name of a run in rlm.replay_dir. */
function recordingOf({ args, terminal }: Invocation, { config }: Loaded): string {
  const [given] = args;
  if (given === undefined) throw new Fault("invalid_args", "Which recording?", { hint: "llmc rlm replay RUN" });
  const file = resolve(terminal.cwd, given);
  const { replay_dir } = config.rlm;
  if (existsSync(file) || replay_dir === undefined) return file;
  return join(replay_dir, `${given}.jsonl`);
}

/** The text it ran on: given again, or read from where it was. */
function textOf(invocation: Invocation, { root }: Loaded, recorded: string | undefined): Uint8Array {
  const context = textFlag(invocation, "context");
  if (context !== undefined) return Buffer.from(context);
  const file = textFlag(invocation, "file");
  if (file === undefined && recorded === undefined)
    throw new Fault("invalid_args", "The run was on a text that is not recorded.", {
      hint: "Give it: --context or --file.",
    });
  try {
    return readFileSync(file === undefined ? resolve(root, recorded!) : resolve(invocation.terminal.cwd, file));
  } catch (cause) {
    throw new Fault("file_not_found", "The text of the run cannot be read.", { cause, hint: "Give it with --file." });
  }
}
