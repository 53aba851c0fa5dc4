import { createApp } from "../app.ts";
import { Fault } from "../base/fault.ts";
import { mintPrincipal } from "../base/principal.ts";
import { type Invocation, textFlag } from "./command.ts";
import { loadForCall } from "./where.ts";

/** Makes one call through the same door as a client, and gives its whole payload. An interrupt cancels it. */
export async function ask<Payload>(
  invocation: Invocation,
  name: string,
  args: Record<string, unknown>,
): Promise<Payload> {
  const app = createApp(loadForCall(invocation));
  const cancel = new AbortController();
  const stop = () => cancel.abort();
  process.once("SIGINT", stop);
  try {
    const reply = await app.dispatch({
      name,
      args: Object.fromEntries(Object.entries(args).filter(([, value]) => value !== undefined)),
      principal: mintPrincipal("local", process.getuid?.() ?? 0),
      via: "cli",
      signal: cancel.signal,
      edge: "data",
    });
    if (!reply.ok) throw reply.fault;
    return reply.payload as Payload;
  } finally {
    process.off("SIGINT", stop);
    await app.close();
  }
}

export function numberOf(invocation: Invocation, name: string): number | undefined {
  const text = textFlag(invocation, name);
  if (text !== undefined && !/^\d+$/.test(text)) throw new Fault("invalid_args", `--${name} takes a whole number.`);
  return text === undefined ? undefined : Number(text);
}

/** What a command was asked about, as one text. */
export function subject({ args }: Invocation, missing: string, hint: string): string {
  const text = args.join(" ").trim();
  if (text === "") throw new Fault("invalid_args", missing, { hint });
  return text;
}

/** Paints where a terminal shows colours. */
export function painter({ terminal }: Invocation): (code: number, text: string) => string {
  const inColour = terminal.is_tty && !terminal.env["NO_COLOR"];
  return (code, text) => (inColour ? `\u001b[${code}m${text}\u001b[0m` : text);
}

/** A file must not steer the terminal that shows it. */
export function harmless(line: string): string {
  return line.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, "");
}
