import { parseArgs } from "node:util";
import { Fault } from "../base/fault.ts";
import { nearest } from "../base/text.ts";
import type { Command, Flag } from "./command.ts";

interface Parsed {
  readonly command: Command | undefined;
  readonly args: readonly string[];
  readonly flags: Readonly<Record<string, string | true>>;
}

const HELP: Flag = { name: "help", short: "h", about: "Show this help" };

/** argv as a command of the table, its words and its flags. */
export function parseCommand(argv: readonly string[], commands: readonly Command[]): Parsed {
  const command = commands.find(({ name }) => name.split(" ").every((word, index) => argv[index] === word));
  if (!command) return { command: undefined, args: [], flags: topFlags(argv, commands) };
  const rest = argv.slice(command.name.split(" ").length);
  try {
    const { values, positionals } = parseArgs({
      args: [...rest],
      allowPositionals: true,
      strict: true,
      options: optionsOf([...command.flags, HELP]),
    });
    const flags = Object.fromEntries(
      Object.entries(values).flatMap(([name, value]) =>
        value === undefined || value === false ? [] : [[name, value as string | true]],
      ),
    );
    if (positionals.length > wordsOf(command) && !flags["help"])
      throw new Fault("invalid_args", `llmc ${command.name} takes no "${positionals.at(-1)}".`, {
        hint: `llmc ${command.name} --help`,
      });
    return { command, args: positionals, flags };
  } catch (error) {
    if (error instanceof Fault) throw error;
    throw badFlag(error, command);
  }
}

function wordsOf({ args }: Command): number {
  if (args === undefined) return 0;
  return args.includes("...") ? Number.POSITIVE_INFINITY : args.split(" ").length;
}

function optionsOf(flags: readonly Flag[]) {
  return Object.fromEntries(
    flags.map((flag) => [
      flag.name,
      {
        type: flag.value === undefined ? ("boolean" as const) : ("string" as const),
        ...(flag.short === undefined ? {} : { short: flag.short }),
      },
    ]),
  );
}

function topFlags(argv: readonly string[], commands: readonly Command[]): Record<string, true> {
  const [first] = argv;
  if (first === undefined || first === "--help" || first === "-h" || first === "help") return { help: true };
  if (first === "--version" || first === "-V" || first === "version") return { version: true };
  const names = commands.flatMap(({ name }) => [name, name.split(" ")[0]!]);
  const family = commands.filter(({ name }) => name.startsWith(`${first} `)).map(({ name }) => `llmc ${name}`);
  if (family.length > 0)
    throw new Fault("invalid_args", `llmc ${first} needs more.`, { hint: `Try ${family.join(", ")}.` });
  const close = nearest(first, names);
  throw new Fault("invalid_args", `There is no command "${first.slice(0, 60)}".`, {
    hint: close ? `Did you mean llmc ${close}?` : "llmc --help lists them.",
  });
}

function badFlag(error: unknown, command: Command): Fault {
  const name = /'--?([^' ]+)/.exec(error instanceof Error ? error.message : "")?.[1] ?? "";
  const flag = command.flags.find((known) => known.name === name);
  if (flag?.value !== undefined)
    return new Fault("invalid_args", `--${name} needs a value (${flag.value}).`, {
      hint: `llmc ${command.name} --help`,
    });
  const close = nearest(
    name,
    command.flags.map((known) => known.name),
  );
  return new Fault("invalid_args", `llmc ${command.name} has no flag --${name}.`, {
    hint: close ? `Did you mean --${close}?` : `llmc ${command.name} --help`,
  });
}

export function helpFor(command: Command): string {
  const usage = ["llmc", command.name, command.args, "[flags]"].filter(Boolean).join(" ");
  const examples = command.examples ? ["", "Examples:", ...command.examples.map((line) => `  ${line}`)] : [];
  return [
    `${command.about}.`,
    "",
    `Usage: ${usage}`,
    "",
    "Flags:",
    ...rows([...command.flags, HELP].map((flag) => [flagText(flag), flag.about])),
    ...examples,
    "",
  ].join("\n");
}

export function helpForAll(commands: readonly Command[]): string {
  return [
    "llmc: files, search, commands and code for coding agents, over MCP,",
    "at a tenth of the tokens. New here? llmc init, or llmc demo.",
    "",
    "Usage: llmc COMMAND [flags]",
    "",
    "Commands:",
    ...rows(commands.map(({ name, about }) => [name, about])),
    "",
    "llmc COMMAND --help tells more. llmc --version prints versions.",
    "",
  ].join("\n");
}

export function flagText(flag: Flag): string {
  const long = flag.value === undefined ? `--${flag.name}` : `--${flag.name} ${flag.value}`;
  return flag.short === undefined ? long : `-${flag.short}, ${long}`;
}

function rows(pairs: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...pairs.map(([left]) => left.length));
  return pairs.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`);
}
