import { Fault } from "../base/fault.ts";
import type { Command, Invocation } from "./command.ts";
import { bash } from "./completions/bash.ts";
import { fish } from "./completions/fish.ts";
import { SHELLS } from "./completions/words.ts";
import { zsh } from "./completions/zsh.ts";

const MAKERS = { bash, zsh, fish };

/** A completion script for a shell, from the same table as the parser and the help. */
export async function printCompletions({ args, terminal }: Invocation, commands: readonly Command[]): Promise<number> {
  const shell = SHELLS.find((name) => name === args[0]);
  if (!shell) throw new Fault("invalid_args", "For which shell?", { hint: `llmc completions ${SHELLS.join("|")}` });
  terminal.out(MAKERS[shell](commands));
  return 0;
}
