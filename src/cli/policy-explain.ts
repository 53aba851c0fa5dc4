import { createApp } from "../app.ts";
import { Fault } from "../base/fault.ts";
import type { Invocation } from "./command.ts";
import { explainPolicy, judge } from "./policy.ts";
import { loadFor } from "./where.ts";

/** 0: it may run. 1: it may not. */
export async function run(invocation: Invocation): Promise<number> {
  const [command] = invocation.args;
  if (command === undefined)
    throw new Fault("invalid_args", "Which command?", { hint: "llmc policy explain 'git log -p'" });
  const app = createApp(loadFor(invocation));
  try {
    const exec = await app.engines.exec();
    invocation.terminal.out(await explainPolicy(exec, command));
    return (await judge(exec, command)).allowed ? 0 : 1;
  } finally {
    await app.close();
  }
}
