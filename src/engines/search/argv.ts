import type { SearchOptions } from "./options.ts";

/** What the argv of one search is built from. No string of a caller ever becomes a flag: values are joined to their own flag. */
export interface Scope {
  readonly options: SearchOptions;
  /** Globs relative to the searched folder that are left out. */
  readonly excluded: readonly string[];
  /** Names (plain globs) that a hit's file must have, where known beforehand. */
  readonly names: readonly string[] | undefined;
  /** Else ripgrep would heed no .gitignore, or every one up to the top. */
  readonly in_repository: boolean;
  readonly sorted: boolean;
}

export interface Query {
  readonly pattern: string;
  readonly literal: boolean;
  readonly ignore_case: boolean;
  readonly context_lines: number;
}

const ALWAYS = ["--no-config", "--color=never", "--null", "--no-ignore-global"];

/** Each line as `path NUL line:column:offset:text`, context as `path NUL line-offset-text`: no name can fake another record. */
export function contentArgv(query: Query, scope: Scope): string[] {
  return [...ALWAYS, ...lineFormat(query), ...scopeFlags(scope), `--regexp=${query.pattern}`, "--", "./"];
}

/** The same search over standard input: a descriptor that was verified beforehand. */
export function descriptorArgv(query: Query): string[] {
  return [...ALWAYS, ...lineFormat(query), `--regexp=${query.pattern}`, "--", "-"];
}

export function filesArgv(scope: Scope): string[] {
  return [...ALWAYS, "--files", ...scopeFlags(scope), "--", "./"];
}

function lineFormat(query: Query): string[] {
  const format = [
    "--no-heading",
    "--with-filename",
    "--line-number",
    "--column",
    "--byte-offset",
    "--no-context-separator",
    "--no-mmap",
  ];
  return [
    ...format,
    ...(query.context_lines > 0 ? [`--context=${query.context_lines}`] : []),
    query.ignore_case ? "--ignore-case" : "--case-sensitive",
    ...(query.literal ? ["--fixed-strings"] : []),
  ];
}

function scopeFlags(scope: Scope): string[] {
  return [
    ...(scope.options.hidden ? ["--hidden", "--glob=!.git"] : []),
    ...scope.excluded.map((glob) => `--glob=!${glob}`),
    ...(scope.names ?? []).map((name) => `--type-add=wanted:${name}`),
    ...(scope.names ? ["--type=wanted"] : []),
    ...(scope.in_repository ? [] : ["--no-require-git", "--no-ignore-parent"]),
    ...(scope.sorted ? ["--sort=path"] : []),
  ];
}
