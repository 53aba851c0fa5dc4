import { Fault } from "../../base/fault.ts";
import { isProgram } from "./resolve.ts";

const SCRIPT = ["/usr/bin/script", "/bin/script"];

/** Puts a program into a pseudo-terminal by way of util-linux `script`, which takes one line for sh: every word of it is quoted whole. */
export function inTerminal(file: string, args: readonly string[]): { file: string; args: readonly string[] } {
  const script = SCRIPT.find(isProgram);
  if (script === undefined)
    throw new Fault("command_denied", "There is no pseudo-terminal here: `script` of util-linux is not installed.", {
      hint: "Use pty: false.",
    });
  return {
    file: script,
    args: ["--quiet", "--flush", "--return", "--command", `exec ${[file, ...args].map(quoted).join(" ")}`, "/dev/null"],
  };
}

export function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
