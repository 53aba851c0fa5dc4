import type { Command } from "../command.ts";
import { families, flagsOf, operands, takesFile } from "./words.ts";

export function fish(commands: readonly Command[]): string {
  const quoted = (text: string) => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
  const lines = [
    "# fish completion of llmc: llmc completions fish > ~/.config/fish/completions/llmc.fish",
    "complete -c llmc -f",
  ];
  for (const [first, seconds] of families(commands)) {
    const about = commands.find(({ name }) => name === first)?.about ?? `${first} …`;
    lines.push(`complete -c llmc -n __fish_use_subcommand -a ${first} -d ${quoted(about)}`);
    if (seconds.length > 0)
      lines.push(
        `complete -c llmc -n '__fish_seen_subcommand_from ${first}; and not __fish_seen_subcommand_from ${seconds.join(" ")}' -a ${quoted(seconds.join(" "))}`,
      );
  }
  for (const command of commands) {
    const seen = command.name
      .split(" ")
      .map((word) => `__fish_seen_subcommand_from ${word}`)
      .join("; and ");
    for (const flag of flagsOf(command)) {
      const argument = flag.value === undefined ? "" : takesFile(flag) ? " -rF" : " -x";
      lines.push(`complete -c llmc -n '${seen}' -l ${flag.name}${argument} -d ${quoted(flag.about)}`);
    }
    if (operands(command).length > 0)
      lines.push(`complete -c llmc -n '${seen}' -a ${quoted(operands(command).join(" "))}`);
  }
  return `${lines.join("\n")}\n`;
}
