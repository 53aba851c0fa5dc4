/** What the words after the flags are. `paths` and what looks like one in `refs` go through the roots. */
export type Operands = "none" | "text" | "paths" | "pattern paths" | "refs";

/** How the arguments of a command, or of one of its subcommands, may look. What is not named here is refused. */
export interface Grammar {
  /**
   * Flags apart by spaces. `-i` takes nothing, `-A=` a value, `-A=int` a number, `-f=path` a path inside the roots, `--color[=]` a value
   * only when it is attached. `-#` stands for a number used as a flag, as in `head -5`.
   */
  readonly flags?: string;
  readonly operands?: Operands;
  readonly max_operands?: number;
  /** `getopt`: short flags combine and values attach. `words`: every flag is one word, paths come first (find). `plain`: all of it is text (echo). */
  readonly style?: "getopt" | "words" | "plain";
  /** With one of these flags the first operand is no pattern. */
  readonly pattern_in_flags?: readonly string[];
  /** The first operand must look like this ... */
  readonly first_operand?: RegExp;
  /** ... and must not look like this. */
  readonly first_operand_not?: RegExp;
  /** The program knows no `--`: operands stand alone and may not begin with a dash. */
  readonly no_dashes?: true;
  /** One of these flags is needed, always or as soon as there are operands. */
  readonly need_one_of?: readonly string[];
  readonly operands_need_one_of?: readonly string[];
  /** Our own arguments, before and after the caller's flags. The later ones win where it matters. */
  readonly before?: readonly string[];
  readonly after?: readonly string[];
  /** How a name that must not be read is kept out of a recursive walk: `{}` is the name. */
  readonly exclude?: readonly string[];
  /** A flag that changes the folder the command works in. */
  readonly cwd_flag?: string;
}

/** One command: its grammar, and examples that the grammar is held against each time it is loaded. */
export interface Rule extends Grammar {
  readonly name: string;
  readonly subcommands?: Readonly<Record<string, Grammar>>;
  /** Variables the command needs to stay harmless. */
  readonly env?: Readonly<Record<string, string>>;
  /** Runs behind the OS sandbox, read-only, where there is one: the command reads settings that a repository brings along. */
  readonly walled?: true;
  readonly allows: readonly string[];
  readonly refuses: readonly string[];
}

/** A path among the arguments, still to be judged by the roots. */
export interface PathArgument {
  readonly text: string;
  /** `maybe`: a ref or a path; judged when it leaves the folder or exists. */
  readonly certain: boolean;
}

export interface Judged {
  /** Arguments in one canonical form, with our own among them. */
  readonly args: readonly string[];
  readonly paths: readonly PathArgument[];
  readonly cwd?: string;
  /** Which rule allowed them. */
  readonly rule: string;
}
