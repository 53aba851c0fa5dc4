declare const minted: unique symbol;

/** `reader` looks and changes nothing, `project_code` runs what the project says, `shell` runs anything, `never` is no command for us. */
export type CommandClass = "reader" | "project_code" | "shell";

/**
 * What keeps a command in: `bwrap` an OS sandbox, `isolated` the operator's own container (LLMC_ISOLATED=1), `host` the
 * operator's trust, `process` only a process group (for readers, whose arguments were judged).
 */
export type IsolationLevel = "bwrap" | "isolated" | "host" | "process";

/** A command that passed the gate: its binary is resolved, its arguments are judged, its level is settled. Made only by engines/exec. */
export interface AllowedCommand {
  readonly [minted]: "AllowedCommand";
  readonly name: string;
  readonly class: CommandClass;
  readonly level: IsolationLevel;
  /** Absolute path of the program. */
  readonly file: string;
  /** What the program gets, without its own name. */
  readonly args: readonly string[];
  /** A real folder inside the roots. */
  readonly cwd: string;
  /** Variables beyond the fixed ones. */
  readonly env: Readonly<Record<string, string>>;
  /** The rule that allowed it, for the audit. */
  readonly rule: string;
  /** As the caller wrote it. */
  readonly words: readonly string[];
  /** The same as one line, for people. */
  readonly shown: string;
}
