import type { Command } from "../command.ts";
import { families, flagsOf, operands, takesFile } from "./words.ts";

export function bash(commands: readonly Command[]): string {
  const cases = commands.map((command) => {
    const words = [...flagsOf(command).map(({ name }) => `--${name}`), ...operands(command)];
    return `    '${command.name}') words='${words.join(" ")}' ;;`;
  });
  const below = [...families(commands)].filter(([, seconds]) => seconds.length > 0);
  return `# bash completion of llmc: llmc completions bash > ~/.local/share/bash-completion/completions/llmc
_llmc() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} first=\${COMP_WORDS[1]} words
  COMPREPLY=()
  case $previous in
    ${fileFlags(commands).join("|")}) COMPREPLY=($(compgen -f -- "$current")); return ;;
    --mode) COMPREPLY=($(compgen -W 'classic hybrid code_execution' -- "$current")); return ;;
  esac
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W '${[...families(commands).keys()].join(" ")} --help --version' -- "$current")); return
  fi
  local name=$first
  case $first in
${below.map(([first, seconds]) => `    ${first}) if [ "$COMP_CWORD" -eq 2 ]; then COMPREPLY=($(compgen -W '${seconds.join(" ")}' -- "$current")); return; fi; name="$first \${COMP_WORDS[2]}" ;;`).join("\n")}
  esac
  case $name in
${cases.join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -F _llmc llmc
`;
}

function fileFlags(commands: readonly Command[]): string[] {
  const files = commands.flatMap(({ flags }) => flags).filter(takesFile);
  return [...new Set(files.map(({ name }) => `--${name}`))];
}
