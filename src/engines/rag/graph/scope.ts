import type { Ref } from "./types.ts";

/** How a name's type is told beside it: `: Foo`, `= new Foo(`, `= make(`, `= other`. */
export interface Hint {
  readonly path: string;
  /** It is what a call of `path` gives. */
  readonly isCall: boolean;
}

/** What a name is where it stands. Without a reference it is something that lives and dies there. */
export interface Binding {
  readonly ref?: Ref;
  readonly hint?: Hint | undefined;
  /** Where in the text it begins to be seen; 0 when it is seen before its declaration too. */
  readonly from?: number;
  readonly scope: Scope;
}

/** Names that are seen from a place. */
export interface Scope {
  readonly kind: "module" | "class" | "function" | "block";
  readonly parent: Scope | undefined;
  readonly names: Map<string, Binding>;
  /** Whether what is declared here is seen only here. */
  readonly isInside: boolean;
}

export function scopeIn(parent: Scope | undefined, kind: Scope["kind"]): Scope {
  const isInside = kind === "function" || kind === "block";
  return { kind, parent, names: new Map(), isInside };
}

export function lookUp(scope: Scope | undefined, name: string, place = Number.POSITIVE_INFINITY): Binding | undefined {
  for (let at = scope; at; at = at.parent) {
    const found = at.names.get(name);
    if (found && (found.from ?? 0) <= place) return found;
  }
  return undefined;
}

/** The first declaration stands: a later one of the same scope is the same thing again, or an overload. */
export function bind(scope: Scope, name: string, what: { ref?: Ref; hint?: Hint | undefined; from?: number }): void {
  if (!scope.names.has(name)) scope.names.set(name, { ...what, scope });
}

const MAX_REF = 6;

/** `a.b.c` as a reference, as far as its first name is known here. */
export function refOfPath(
  scope: Scope | undefined,
  path: string,
  self: string | undefined,
  depth = 0,
): Ref | undefined {
  const [first = "", ...rest] = path.split(/\.|::|->|\\/);
  let ref: Ref | undefined;
  if (/^(this|self|Self|\$this|cls|static)$/.test(first)) ref = self === undefined ? undefined : ["self", self];
  else {
    const found = lookUp(scope, first);
    ref = found ? heldBy(found, self, depth + 1) : ["free", first];
  }
  for (const name of rest.slice(0, MAX_REF)) if (ref) ref = ["member", ref, name];
  return ref;
}

/** What a name stands for when something is asked of it. */
export function heldBy(binding: Binding, self: string | undefined, depth = 0): Ref | undefined {
  if (binding.ref) return binding.ref;
  return binding.hint && depth < MAX_REF ? refOfHint(binding.hint, binding.scope, self, depth) : undefined;
}

export function refOfHint(hint: Hint, scope: Scope, self: string | undefined, depth = 0): Ref | undefined {
  const ref = refOfPath(scope, hint.path, self, depth);
  return ref && hint.isCall ? ["call", ref] : ref;
}
