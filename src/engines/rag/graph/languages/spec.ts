import type { DefKind } from "../types.ts";

/** What a node of a grammar means to the graph. Its own leaves are those that stand in no other node that has a rule. */
export interface Rule {
  /** Defines a symbol of this kind. */
  readonly def?: DefKind;
  /** Which of its own leaves is the name: the first (default), the last, or the one before the parameters. */
  readonly at?: "first" | "last" | "call";
  /** Only names of these types of leaf. */
  readonly named?: string;
  /** Opens a scope. What is defined in a class is reached through it; what is defined in a function is seen in it alone. */
  readonly scope?: "module" | "class" | "function" | "block";
  /** Makes a function of the variable that it is given to. */
  readonly isFunction?: boolean;
  /** Every own leaf is such a definition. */
  readonly each?: boolean;
  /** Own leaves that are declared here: the first when nothing but marks stands before it, or `x` of `x => …`. */
  readonly binds?: "first" | "last" | "all" | "arrow";
  /** A node that begins so is a definition without a name: what others import as `default`. */
  readonly nameless?: RegExp;
  /** A parameter that begins so is a field of the class too. */
  readonly promotes?: RegExp;
  /** What is bound is seen only after the node. */
  readonly ordered?: boolean;
  /** Own leaves that name nothing in the graph. */
  readonly skips?: "first" | "all";
  /** Only own leaves before the first `=`, `:=` or `in`. */
  readonly left?: boolean;
  /** Of several own leaves only those that begin the node or follow a comma. */
  readonly listed?: boolean;
  /** Defines only with a body; without one it is a use. */
  readonly body?: boolean;
  /** A name at the very beginning is defined; else it is a pattern, and what it binds is. */
  readonly pattern?: boolean;
  /** The first own leaf is a member of what is made here. */
  readonly keys?: boolean;
  /** Own leaves are what the definition around it derives from: always, or only right in a node of this type. */
  readonly inherits?: true | string;
  /** A leaf before this is what the definition derives from. */
  readonly derives?: RegExp;
  /** Own leaves are types, though the grammar does not say so. */
  readonly types?: "all" | "not last";
  /** Parameters: what follows them is what the function gives. */
  readonly params?: boolean;
  /** A node that begins so is read by `imports`; nothing in it is looked at. */
  readonly imports?: RegExp;
}

/** A name that an import statement brings, or gives on. */
export interface Link {
  readonly module: string;
  /** `*` is the module itself, `**` all of its names. */
  readonly name: string;
  /** What it is called here; undefined when it is only given on. */
  readonly local?: string | undefined;
  /** What it is called by those who import it from here. */
  readonly exported?: string | undefined;
  /** Where the name stands in the statement; -1 when it is not to be counted as a use. */
  readonly at: number;
}

export interface Spec {
  /**
   * Types of leaves: `name` is a value or a member, `type` a type, `property` only ever a member or a definition,
   * `binding` always a declaration, `self` the object at hand, `other` nothing but an end of an expression.
   */
  readonly leaves: Readonly<Record<string, "name" | "type" | "property" | "binding" | "self" | "other">>;
  readonly rules: Readonly<Record<string, Rule>>;
  /** Names of the object at hand that the grammar takes for ordinary ones. */
  readonly selves?: readonly string[];
  /** A leaf after this is what the definition around it derives from. */
  readonly derives?: RegExp;
  /** A plain name that is nothing else is a call. */
  readonly bare_calls?: boolean;
  /** Which kind a definition really is, by what follows its name. */
  readonly refine?: (kind: DefKind, after: string) => DefKind;
  /** Leaves that are the module itself or the one around it, by what they are called. */
  readonly roots?: readonly string[];
  /** Where the grammar fails, definitions at the beginning of a line: the keyword in group 1, the name in group 2. */
  readonly recover?: RegExp;
  /** Members are called without naming their object. */
  readonly implicit_self?: boolean;
  /** A name that is bound nowhere may be found in any file of the same package, or by being the only one. */
  readonly open?: boolean;
  /** What follows a name: its type, or how it is made. Group `type`, or `made` with `call` or `new`. Sticky. */
  readonly after: RegExp;
  /** What stands before a name, up to it: its type in group 1. */
  readonly before?: RegExp;
  /** What follows parameters: the type that is given, in group 1. Sticky. */
  readonly gives?: RegExp;
  readonly imports?: (text: string) => Link[];
  /** A variable that is made so is a module: `= require('x')`. Sticky, the module in group 1. */
  readonly requires?: RegExp;
  /** A definition in a node that begins so is the main export of its file. */
  readonly main?: RegExp;
  /** Macros may stand anywhere, and a grammar takes what follows them for names. */
  readonly macros?: boolean;
  /** `->` leads to a member. */
  readonly arrows?: boolean;
  /** Names after `<` that begin small are elements, not names of the file. */
  readonly tags?: boolean;
  /** Fields are made by writing them: `self.x = 1`. */
  readonly writes_fields?: boolean;
  /** The package that a file says it belongs to. */
  readonly package?: RegExp;
  /** A definition may name its class itself: Go's receivers, C++'s qualified names, Rust's impl. */
  readonly owner?: (text: string, start: number, name: number) => string | undefined;
  /** Nodes that lend their class to what they hold: Rust's impl, Go has none. Group 1 the class, group 2 what it derives from. */
  readonly lends?: Readonly<Record<string, RegExp>>;
}
