/** What a symbol is. Stored by its place in this list: append only. */
export const DEF_KINDS = [
  "function",
  "method",
  "class",
  "interface",
  "type",
  "enum",
  "field",
  "variable",
  "module",
  "macro",
] as const;
export type DefKind = (typeof DEF_KINDS)[number];

/** How a name is used. Stored by its place in this list: append only. `word` is no reference, but a place where the word stands. */
export const USE_KINDS = ["call", "import", "type", "inherit", "write", "read", "word"] as const;
export type UseKind = (typeof USE_KINDS)[number];

/**
 * What an expression or annotation speaks of, as far as one file tells; the rest is found out when somebody asks:
 * a definition of this file, an import of it, a name that is not bound in it, a whole module that it imports, the class named (`this`),
 * a member of another reference, what a call of another reference gives.
 */
export type Ref =
  | readonly ["def", number]
  | readonly ["import", number]
  | readonly ["free", string]
  | readonly ["module", number]
  | readonly ["self", string]
  | readonly ["member", Ref, string]
  | readonly ["call", Ref];

export interface Def {
  readonly name: string;
  /** With what it stands in: `Router.match`. */
  readonly symbol: string;
  readonly kind: DefKind;
  /** Counted from 1. */
  readonly line: number;
  readonly last: number;
  /** Of a variable or a field what it holds, of a function what it gives. */
  readonly type?: Ref | undefined;
}

export interface Use {
  /** The name at its definition, as far as this file knows it: an alias is undone. */
  readonly name: string;
  readonly line: number;
  readonly column: number;
  readonly kind: UseKind;
  /** Which definition of the file it stands in; -1 at the top. */
  readonly within: number;
  /** What it is: bound in this file, imported, a member of something known, or (undefined) a member of nobody knows what. */
  readonly ref: Ref | undefined;
}

/** A name that a file takes from a module: `*` is the module itself, `**` all of its names, `default` its main export. */
export interface Import {
  readonly module: string;
  readonly name: string;
}

/** A name that a file gives on: one of its own (`from` is null) or one that it imports. `*` gives on everything. */
export interface Export {
  readonly name: string;
  readonly source: string;
  readonly from: number | null;
}

/** `child` derives from `base`. */
export interface Base {
  readonly child: string;
  readonly base: Ref;
}

/** What the graph knows of one file, from that file alone. */
export interface FileFacts {
  /** The package, namespace or module that the file says it belongs to. */
  readonly package: string;
  readonly defs: readonly Def[];
  readonly uses: readonly Use[];
  readonly imports: readonly Import[];
  readonly exports: readonly Export[];
  readonly bases: readonly Base[];
}
