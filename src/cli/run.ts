import { asFault } from "../base/fault.ts";
import { faultText } from "../core/reply.ts";
import type { Command, Terminal } from "./command.ts";
import { COMMANDS } from "./commands.ts";
import { helpFor, helpForAll, parseCommand } from "./parse.ts";
import { wrapped } from "./wrap.ts";

const COLUMNS = 80;

/** Runs one command line. 0 done, 1 found something wrong, 2 could not be understood or started. */
export async function runCommand(
  argv: readonly string[],
  terminal: Terminal,
  commands: readonly Command[] = COMMANDS,
): Promise<number> {
  try {
    const { command, args, flags } = parseCommand(argv, commands);
    if (!command && flags["version"]) return await showVersion(terminal);
    if (!command) return print(terminal, helpForAll(commands));
    if (flags["help"]) return print(terminal, helpFor(command));
    return await (await command.load()).run({ args, flags, terminal });
  } catch (error) {
    const fault = asFault(error);
    const said = `llmc: ${faultText(fault)}`;
    terminal.err(`${terminal.is_tty ? wrapped(said, COLUMNS).join("\n") : said}\n`);
    if (fault.code === "internal_error")
      terminal.err(`${fault.cause instanceof Error ? fault.cause.stack : String(fault.cause)}\n`);
    return 2;
  }
}

function print(terminal: Terminal, text: string): number {
  terminal.out(text);
  return 0;
}

async function showVersion(terminal: Terminal): Promise<number> {
  const { ownVersion, PROTOCOL_REVISIONS } = await import("../version.ts");
  return print(
    terminal,
    `llmc ${ownVersion()} (node ${process.versions.node}; MCP ${PROTOCOL_REVISIONS.join(", ")})\n`,
  );
}
