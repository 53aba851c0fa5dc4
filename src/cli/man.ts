import { ownVersion, PROTOCOL_REVISIONS } from "../version.ts";
import type { Command, Invocation } from "./command.ts";
import { flagText } from "./parse.ts";

/** The manual page, from the same table as the parser and the help. */
export async function printMan({ terminal }: Invocation, commands: readonly Command[]): Promise<number> {
  terminal.out(manPage(commands));
  return 0;
}

export function manPage(commands: readonly Command[]): string {
  return [
    `.TH LLMC 1 "" "llmc ${ownVersion()}" "User Commands"`,
    ".SH NAME",
    "llmc \\- files, search, commands and code for coding agents, over MCP",
    ".SH SYNOPSIS",
    ".B llmc",
    "COMMAND [flags]",
    ".SH DESCRIPTION",
    escaped(
      `An MCP server for coding agents on Linux, and the commands around it. It speaks MCP revisions ${PROTOCOL_REVISIONS.join(", ")} on standard input and output, or over HTTP.`,
    ),
    ".SH COMMANDS",
    ...commands.flatMap(section),
    ".SH ENVIRONMENT",
    ".TP",
    "LLMC_ROOT, LLMC_CONFIG, LLMC_STATE_DIR",
    "The repository, the configuration file, the state folder.",
    ".TP",
    "LLMC_MCP_TOKEN",
    "The token of callers over HTTP.",
    ".TP",
    "LLMC_ISOLATED=1",
    escaped("Says that the machine is a box of its own, so that project code may run without bubblewrap."),
    ".TP",
    "LLMC_<KEY>",
    "Any key of the configuration, its path in upper case: LLMC_MCP_OUTPUT_FORMAT.",
    ".SH FILES",
    ".TP",
    "llmc.toml",
    "The configuration, in the root of the repository. llmc init writes one; llmc config show lists every key.",
    ".TP",
    ".I .llmc/",
    "State of the repository: handles, locks, telemetry, index, audit.",
    ".SH EXIT STATUS",
    "0 when all is well, 1 when something was found wrong, 2 when the command could not be understood or started.",
    "",
  ].join("\n");
}

function section(command: Command): string[] {
  const usage = ["llmc", command.name, command.args].filter(Boolean).join(" ");
  return [
    `.SS ${escaped(usage)}`,
    `${escaped(command.about)}.`,
    ...command.flags.flatMap((flag) => [".TP", `.B ${escaped(flagText(flag))}`, escaped(flag.about)]),
    ...(command.examples ?? []).flatMap((example) => [".PP", ".EX", escaped(example), ".EE"]),
  ];
}

/** A hyphen that can be copied, and nothing that troff would take for a request. */
function escaped(text: string): string {
  return text
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replace(/^([.'])/, "\\&$1");
}
