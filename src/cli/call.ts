import { createApp } from "../app.ts";
import { Fault } from "../base/fault.ts";
import { mintPrincipal } from "../base/principal.ts";
import type { Invocation } from "./command.ts";
import { loadForCall } from "./where.ts";

export async function run(invocation: Invocation): Promise<number> {
  const [name, text] = invocation.args;
  if (name === undefined)
    throw new Fault("invalid_args", "Which tool?", { hint: "llmc tools --mode classic lists them." });
  const args = parsed(text);
  const app = createApp(loadForCall(invocation));
  const cancel = new AbortController();
  process.once("SIGINT", () => cancel.abort());
  try {
    const reply = await app.dispatch({
      name,
      args,
      principal: mintPrincipal("local", process.getuid?.() ?? 0),
      via: "cli",
      signal: cancel.signal,
      edge: invocation.flags["data"] ? "data" : "model",
      progress: (message) => invocation.terminal.err(`${message}\n`),
    });
    invocation.terminal.out(reply.text.endsWith("\n") ? reply.text : `${reply.text}\n`);
    return reply.ok ? 0 : 1;
  } finally {
    await app.close();
  }
}

function parsed(text: string | undefined): unknown {
  if (text === undefined) return {};
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Fault("invalid_args", `The arguments are not JSON: ${(error as Error).message}.`, {
      hint: `Quote them for your shell: llmc call stat '{"path":"README.md"}'`,
    });
  }
}
