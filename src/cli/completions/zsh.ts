import type { Command, Flag } from "../command.ts";
import { families, flagsOf, operands, takesFile } from "./words.ts";

export function zsh(commands: readonly Command[]): string {
  const quoted = (text: string) =>
    text.replaceAll("'", "'\\''").replaceAll("[", "\\[").replaceAll("]", "\\]").replaceAll(":", "\\:");
  const described = (pairs: readonly (readonly [string, string])[]) =>
    pairs.map(([name, about]) => `'${name}:${quoted(about)}'`).join(" ");
  const about = (first: string) => commands.find(({ name }) => name === first)?.about ?? `${first} …`;
  const argument = (flag: Flag) => {
    const { name, value, about: text } = flag;
    const action = takesFile(flag) ? ":file:_files" : value === undefined ? "" : `:${value}: `;
    return `'--${name}[${quoted(text)}]${action}'`;
  };
  const cases = commands.map((command) => {
    const more = operands(command).length > 0 ? ` '*:: :(${operands(command).join(" ")})'` : "";
    return `    '${command.name}') _arguments ${flagsOf(command).map(argument).join(" ")}${more} ;;`;
  });
  return `#compdef llmc
# zsh completion of llmc: llmc completions zsh > "\${fpath[1]}/_llmc"
_llmc() {
  local -a commands
  if (( CURRENT == 2 )); then
    commands=(${described([...families(commands).keys()].map((first) => [first, about(first)] as const))})
    _describe command commands; return
  fi
  local name=$words[2]
  case $name in
${[...families(commands)]
  .filter(([, seconds]) => seconds.length > 0)
  .map(
    ([first, seconds]) =>
      `    ${first}) if (( CURRENT == 3 )); then commands=(${described(seconds.map((second) => [second, about(`${first} ${second}`)] as const))}); _describe command commands; return; fi; name="$name $words[3]" ;;`,
  )
  .join("\n")}
  esac
  case $name in
${cases.join("\n")}
  esac
}
compdef _llmc llmc
`;
}
