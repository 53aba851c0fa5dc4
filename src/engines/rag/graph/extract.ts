import type { Tree } from "web-tree-sitter";
import { type Declared, declare, isMember } from "./declare.ts";
import { writtenFields } from "./fields.ts";
import type { Spec } from "./languages/spec.ts";
import { classOf, defAround } from "./place.ts";
import { type Leaf, plainName, reduce } from "./reduce.ts";
import { heldBy, lookUp, refOfHint, refOfPath, type Scope } from "./scope.ts";
import { DEF_KINDS, type Export, type FileFacts, type Ref, type Use, type UseKind } from "./types.ts";

/** More uses than this in one file are data, not code. */
const MAX_USES = 50_000;
const CALL_BACK = 600;
/** `a.b.c.d`: beyond this many steps nobody knows what it is. */
const MAX_CHAIN = 8;

/** What one file says about definitions, uses, imports and inheritance. */
export function factsOf(tree: Tree, text: string, spec: Spec): FileFacts {
  const { boxes, leaves } = reduce(tree, text, spec);
  const file = declare(boxes, text, spec, tree.rootNode.hasError);
  if (spec.writes_fields) writtenFields(leaves, file, text, spec);
  const top = boxes[0]!.scope!;
  if (spec.recover && file.isBroken) recover(file, top, text, spec.recover);
  const uses = file.uses.map((use): Use => {
    const own = use.ref?.[0] === "free" ? lookUp(top, use.name)?.ref : undefined;
    return own ? named(file, { ...use, ref: own }) : use;
  });
  const ends = new Map<number, Leaf>();
  for (const leaf of leaves) {
    ends.set(leaf.end, leaf);
    if (!leaf.settled && uses.length < MAX_USES) look(leaf, file, uses, ends, text, spec);
    else if (leaf.settled) leaf.value = lookUp(leaf.box.scope, leaf.text)?.ref;
  }
  for (const { child, base, scope } of file.lent) {
    const ref = refOfPath(scope, base, child);
    if (ref) file.bases.push({ child, base: ref });
  }
  const defs = file.defs.map(({ hint, scope, owner, ...def }) => ({
    ...def,
    type: hint && refOfHint(hint, scope, owner === "" ? undefined : owner),
  }));
  const said = spec.package?.exec(text);
  return {
    package: said?.[1] ?? "",
    defs,
    uses,
    imports: file.imports,
    exports: file.exports.map((one) => given(one, lookUp(top, one.source)?.ref, file)),
    bases: file.bases,
  };
}

/** Definitions that a grammar lost, which does not know all of its language. */
function recover(file: Declared, top: Scope, text: string, pattern: RegExp): void {
  const known = new Set(file.defs.map(({ symbol }) => symbol));
  let [at, line] = [0, 1];
  for (const match of text.matchAll(pattern)) {
    const [, word = "", name = ""] = match;
    for (; at < match.index; at++) if (text.charCodeAt(at) === 10) line++;
    if (known.has(name)) continue;
    known.add(name);
    const kind = DEF_KINDS.find((one) => one === word) ?? "variable";
    const def = file.defs.push({ name, symbol: name, kind, owner: "", line, last: line, scope: top, hint: undefined });
    top.names.set(name, { ref: ["def", def - 1], scope: top });
  }
}

/** What a file gives on under a name that it has by an import comes from there. */
function given(one: Export, ref: Ref | undefined, file: Declared): Export {
  if (one.from !== null || (ref?.[0] !== "import" && ref?.[0] !== "module")) return one;
  return { name: one.name, source: file.imports[ref[1]]!.name, from: ref[1] };
}

function look(leaf: Leaf, file: Declared, uses: Use[], ends: Map<number, Leaf>, text: string, spec: Spec): void {
  const { box } = leaf;
  const self = classOf(box, file);
  if (leaf.what === "self" || spec.selves?.includes(leaf.text)) {
    leaf.value = self === undefined ? undefined : ["self", self];
    return;
  }
  if (spec.roots?.includes(leaf.text)) {
    leaf.value = ["module", rootModule(file, leaf.text)];
    return;
  }
  if (leaf.what === "other") return;
  const name = plainName(leaf);
  const isField = leaf.type === "instance_variable";
  const isVariable = leaf.type === "variable_name";
  const receiver = isField ? leaf.start : isMember(text, leaf.start, spec);
  let ref: Ref | undefined;
  if (receiver >= 0) {
    const of = isField ? selfRef(self) : valueBefore(receiver, ends, text);
    ref = of && lengthOf(of) < MAX_CHAIN ? ["member", of, name] : undefined;
    leaf.value = ref;
  } else {
    if (leaf.what === "property" && !isKeyUse(leaf)) return;
    const isTag = isElement(leaf, text, spec) && /^[a-z]/.test(name);
    const bound = isTag ? undefined : lookUp(box.scope, leaf.text, leaf.start);
    // C's `struct stack stack`: the two have nothing to do with each other.
    const isTyped = bound && !bound.ref && /\b(struct|union|enum)\s+$/.test(text.slice(leaf.start - 8, leaf.start));
    const found = isTyped ? undefined : bound;
    leaf.value = found ? heldBy(found, self) : isVariable ? undefined : ["free", name];
    // A variable of its own place.
    if ((found && !found.ref) || isVariable) return;
    const isKey = !found && box.rule.keys === true && leaf === box.own[0];
    ref = isTag || isKey ? undefined : found ? found.ref : ["free", name];
  }
  const kind = kindOf(leaf, text, spec);
  const within = defAround(box);
  if (kind === "inherit" && ref) {
    const child = within < 0 ? undefined : file.defs[within]!.symbol;
    if (child !== undefined) file.bases.push({ child, base: ref });
  }
  uses.push(named(file, { name, line: leaf.line + 1, column: leaf.column, kind, within, ref }));
}

/** An alias is undone: a use goes by the name that its definition has. */
function named(file: Declared, use: Use): Use {
  const { ref } = use;
  if (ref?.[0] === "import") return { ...use, name: file.imports[ref[1]]!.name };
  if (ref?.[0] === "def") return { ...use, name: file.defs[ref[1]]!.name };
  return use;
}

function selfRef(self: string | undefined): Ref | undefined {
  return self === undefined ? undefined : ["self", self];
}

function lengthOf(ref: Ref): number {
  let length = 1;
  for (let at = ref; at[0] === "member" || at[0] === "call"; at = at[1]) length++;
  return length;
}

/** What stands before a dot. */
function valueBefore(end: number, ends: ReadonlyMap<number, Leaf>, text: string): Ref | undefined {
  const leaf = ends.get(end);
  if (leaf) return leaf.value;
  if (text[end - 1] !== ")") return undefined;
  const open = openingOf(text, end - 1);
  const called = open < 0 ? undefined : ends.get(open)?.value;
  return called && ["call", called];
}

/** Where the parenthesis opens that closes here, without the spaces before it. */
function openingOf(text: string, close: number): number {
  let depth = 0;
  for (let at = close; at >= Math.max(0, close - CALL_BACK); at--) {
    const char = text[at];
    if (char === ")") depth++;
    else if (char === "(" && --depth === 0) {
      let end = at;
      while (end > 0 && text.charCodeAt(end - 1) <= 32) end--;
      return end;
    }
  }
  return -1;
}

/** `<Name`, and not the beginning of type arguments. */
function isElement({ box, start }: Leaf, text: string, spec: Spec): boolean {
  return spec.tags === true && !/^type_/.test(box.type) && /<\/?$/.test(text.slice(start - 2, start));
}

/** `crate`, `super`: a module that nobody imports by name. */
function rootModule(file: Declared, module: string): number {
  const known = file.imports.findIndex((one) => one.module === module && one.name === "*");
  return known >= 0 ? known : file.imports.push({ module, name: "*" }) - 1;
}

/** Grammars that call every name in a literal's key a property: those are no uses. */
function isKeyUse({ box }: Leaf): boolean {
  return box.rule.inherits !== undefined || box.rule.keys === true || box.type === "pair_pattern";
}

function isInherited({ box, start }: Leaf, after: string, text: string, spec: Spec): boolean {
  const { inherits, derives, named } = box.rule;
  if (derives?.test(after)) return true;
  if (spec.derives?.test(text.slice(Math.max(0, start - 80), start))) return true;
  if (inherits === "embedded") return !box.own.some(({ type }) => type === named);
  return inherits === true || (inherits !== undefined && box.parent?.type === inherits);
}

function kindOf(leaf: Leaf, text: string, spec: Spec): UseKind {
  const { rule, own } = leaf.box;
  const after = text.slice(leaf.end, leaf.end + 80);
  const before = text.slice(Math.max(0, leaf.start - 12), leaf.start);
  const isPath = /^\s*(\?\.|!?\.(?!\.)|::|->)/.test(after);
  if (!isPath && isInherited(leaf, after, text, spec)) return "inherit";
  if (/(\bnew\s+|@)$/.test(before) && !isPath) return "call";
  // A conversion, or a call that a grammar takes for one.
  if (leaf.what === "type" && /^(\[[^\]\n]*\])?\(/.test(after)) return "call";
  if (leaf.what === "type" || rule.types === "all" || (rule.types === "not last" && leaf !== own.at(-1))) return "type";
  if (isPath) return "read";
  if (isElement(leaf, text, spec)) return "call";
  if (/^\s*(\?\.|!|::)?\s*(<[^<>()=;]*>)?\s*(\(|`)/.test(after)) return "call";
  if (WRITES.test(after) || /(\+\+|--)$/.test(before)) return "write";
  return spec.bare_calls && /^[a-z_]/.test(leaf.text) ? "call" : "read";
}

const WRITES = /^\s*([-+*/%&|^]|<<|>>>?|\*\*|&&|\|\||\?\?|:)?=(?![=>~])|^\s*(\+\+|--)/;
