import { CLIENTS } from "../client/clients.ts";
import type { Command, Flag } from "../command.ts";

export const SHELLS = ["bash", "zsh", "fish"] as const;

/** First words, and the second ones below them. */
export function families(commands: readonly Command[]): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const { name } of commands) {
    const [first, second] = name.split(" ") as [string, string?];
    found.set(first, [...(found.get(first) ?? []), ...(second === undefined ? [] : [second])]);
  }
  return found;
}

/** What may follow a command besides flags. */
export function operands({ args }: Command): readonly string[] {
  if (args?.includes("CLIENT")) return CLIENTS.map(({ id }) => id);
  return args?.includes("SHELL") ? SHELLS : [];
}

export function flagsOf(command: Command): readonly Flag[] {
  return [...command.flags, { name: "help", about: "Show help" }];
}

export function takesFile({ value }: Flag): boolean {
  return value === "DIR" || value === "FILE";
}
