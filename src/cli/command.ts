import type { LogLevel } from "../engines/telemetry/index.ts";

export interface Flag {
  readonly name: string;
  readonly short?: string;
  /** Shown in help; absent for a switch. */
  readonly value?: string;
  readonly about: string;
}

/** Where a command writes and reads: the process's own, or a test's. */
export interface Terminal {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly is_tty: boolean;
  out(text: string | Uint8Array): void;
  err(text: string | Uint8Array): void;
}

export interface Invocation {
  readonly args: readonly string[];
  readonly flags: Readonly<Record<string, string | true>>;
  readonly terminal: Terminal;
}

/** One definition makes the parser, the help, and later the man page and completions. The code behind it is loaded when it runs. */
export interface Command {
  readonly name: string;
  readonly args?: string;
  readonly about: string;
  readonly flags: readonly Flag[];
  readonly examples?: readonly string[];
  load(): Promise<{ run(invocation: Invocation): Promise<number> }>;
}

export const WHERE_FLAGS: readonly Flag[] = [
  { name: "root", value: "DIR", about: "The repository (default: nearest .git or llmc.toml above)" },
  { name: "config", value: "FILE", about: "The config file (default: llmc.toml in the root)" },
];

export const MODE_FLAG: Flag = { name: "mode", value: "MODE", about: "classic, hybrid or code_execution" };
export const JSON_FLAG: Flag = { name: "json", about: "Print JSON" };

export function textFlag(invocation: Invocation, name: string): string | undefined {
  const value = invocation.flags[name];
  return typeof value === "string" ? value : undefined;
}

export type { LogLevel };
