import type { Link, Spec } from "./languages/spec.ts";
import { type Box, type Leaf, plainName } from "./reduce.ts";
import { bind, type Hint, type Scope, scopeIn } from "./scope.ts";
import type { Base, Def, DefKind, Export, Import, Ref, Use } from "./types.ts";

/** A definition while its file is read. */
export interface OpenDef extends Omit<Def, "type"> {
  readonly scope: Scope;
  readonly owner: string;
  hint: Hint | undefined;
}

/** What is declared in a file, before anything in it is looked up. */
export interface Declared {
  readonly defs: OpenDef[];
  readonly imports: Import[];
  readonly exports: Export[];
  readonly uses: Use[];
  readonly bases: Base[];
  /** Whether the grammar lost its way in it. */
  readonly isBroken: boolean;
  /** What derives from what, to be looked up when all names are known. */
  readonly lent: { readonly child: string; readonly base: string; readonly scope: Scope }[];
}

const CLASSES: ReadonlySet<DefKind> = new Set(["class", "interface", "type", "enum", "module"]);
/** How much of a line before a name is looked at for its type. */
const BEFORE = 120;
/** What may stand before a name that is declared. */
const MARKS = /^[^=:{]*$/;

export function declare(boxes: readonly Box[], text: string, spec: Spec, isBroken: boolean): Declared {
  const file: Declared = { defs: [], imports: [], exports: [], uses: [], bases: [], isBroken, lent: [] };
  const top = scopeIn(undefined, "module");
  for (const box of boxes) {
    const outer = box.parent?.scope ?? top;
    const isBody = box.rule.scope === "block" && box.parent?.rule.scope === "module";
    box.scope = box.rule.scope === undefined || isBody ? outer : scopeIn(outer, box.rule.scope);
    box.owner = box.parent?.owner ?? "";
    if (box.isImport) {
      const links = spec.imports?.(text.slice(box.start, box.end)) ?? [];
      takeLinks(file, links, box, text, outer);
    } else declareBox(file, box, outer, text, spec);
  }
  return file;
}

function declareBox(file: Declared, box: Box, outer: Scope, text: string, spec: Spec): void {
  const { rule, own } = box;
  lend(file, box, text, spec);
  if (rule.params && box.parent && box.parent.def >= 0) {
    const given = matchAt(spec.gives, text, box.end)?.[1];
    if (given !== undefined) file.defs[box.parent.def]!.hint = { path: given, isCall: false };
  }
  if (rule.nameless?.test(text.slice(box.start, box.start + 80))) {
    const place = { line: box.line + 1, last: box.last + 1, scope: box.scope! };
    box.def = file.defs.length;
    file.defs.push({ name: "default", symbol: "default", kind: "function", owner: "", ...place, hint: undefined });
  }
  if (rule.def !== undefined)
    for (const name of namesIn(box, text)) define(file, box, name, rule.def, outer, text, spec);
  if (rule.skips) for (const leaf of rule.skips === "first" ? own.slice(0, 1) : own) leaf.settled = true;
  for (const leaf of boundIn(box, text)) {
    if (leaf.settled || isMember(text, leaf.start, spec) >= 0) continue;
    leaf.settled = true;
    if (rule.promotes?.test(text.slice(box.start, leaf.start)) && promote(file, box, leaf, text, spec)) continue;
    bind(box.scope!, leaf.text, { hint: hintOf(leaf, text, spec), from: rule.ordered ? box.end : 0 });
  }
}

/** A parameter that is a field of its class as well. */
function promote(file: Declared, box: Box, leaf: Leaf, text: string, spec: Spec): boolean {
  let at: Box | undefined = box;
  while (at && at.def < 0) at = at.parent;
  const owner = at && file.defs[at.def]!.owner;
  if (owner === undefined || owner === "") return false;
  const name = plainName(leaf);
  const place = { line: leaf.line + 1, last: leaf.line + 1, scope: box.scope! };
  const def = file.defs.push({
    ...{ name, symbol: `${owner}.${name}`, kind: "field", owner, ...place },
    hint: hintOf(leaf, text, spec),
  });
  bind(box.scope!, leaf.text, { ref: ["def", def - 1] });
  return true;
}

function boundIn(box: Box, text: string): Leaf[] {
  const { own, rule, start } = box;
  const named = candidates(box, text).filter(({ end }) => !/^\s*(::|\()/.test(text.slice(end, end + 6)));
  const [first] = named;
  const always = own.filter(({ what }) => what === "binding");
  if (rule.binds === "all") return [...named, ...always];
  if (rule.binds === "last") return [...named.slice(-1), ...always];
  if (!first || rule.binds === undefined) return always;
  const isBound =
    rule.binds === "arrow"
      ? /^\s*[=-]>/.test(text.slice(first.end, first.end + 20))
      : MARKS.test(text.slice(start, first.start));
  return isBound ? [first, ...always] : always;
}

/** Members of what is no definition itself belong to the class that it names. */
function lend(file: Declared, box: Box, text: string, spec: Spec): void {
  const found = spec.lends?.[box.type]?.exec(text.slice(box.start, Math.min(box.end, box.start + 300)));
  const child = found?.groups?.["child"];
  if (child === undefined) return;
  box.owner = child;
  const base = found?.groups?.["base"];
  if (base !== undefined) file.lent.push({ child, base, scope: box.scope! });
}

function namesIn(box: Box, text: string): Leaf[] {
  const { rule, start, end } = box;
  if (rule.body && text[end - 1] !== "}") return [];
  const named = candidates(box, text);
  if (rule.each) return named;
  if (rule.at === "last") return named.slice(-1);
  if (rule.at === "call")
    return named.filter((leaf) => /^\s*(<[^()]*>)?\s*\(/.test(text.slice(leaf.end, leaf.end + 80))).slice(0, 1);
  if (!rule.pattern) return named.slice(0, 1);
  const [first] = named;
  // `a.b = c` defines nothing; of `const { a, b } = c` the names are defined that it binds.
  if (first?.start !== start) return named.filter(({ what }) => what === "binding");
  return /^\s*[.[(]|^\s*(->|::)/.test(text.slice(first.end, first.end + 20)) ? [] : [first];
}

/** Own leaves that may be names of what a node declares. */
function candidates({ own, rule, start, end }: Box, text: string): Leaf[] {
  let found = own.filter(({ what }) => what !== "other" && what !== "self");
  if (rule.named !== undefined) found = found.filter(({ type }) => rule.named!.split(" ").includes(type));
  if (rule.left) {
    const cut = text.slice(start, end).search(/:?=(?![=>])|\bin\b|[{]/);
    if (cut >= 0) found = found.filter((leaf) => leaf.start < start + cut);
  }
  if (rule.listed)
    found = found.filter((leaf, index) => index === 0 || /,[\s*&]*$/.test(text.slice(start, leaf.start)));
  return found;
}

function define(file: Declared, box: Box, leaf: Leaf, rule: DefKind, outer: Scope, text: string, spec: Spec): void {
  const isFunction = rule === "variable" && box.isFunction;
  // What a function keeps for itself is not in the graph, but functions are.
  const isLocal = rule === "variable" && outer.isInside && !isFunction;
  const hint = hintOf(leaf, text, spec);
  if (leaf.text === "" || ((file.isBroken || spec.macros) && RESERVED.test(leaf.text))) return;
  leaf.settled = true;
  const module =
    rule === "variable" ? matchAt(spec.requires, text, leaf.what === "binding" ? box.start : leaf.end)?.[1] : undefined;
  if (module !== undefined) {
    const index = file.imports.push({ module, name: leaf.what === "binding" ? leaf.text : "*" }) - 1;
    const ref = [leaf.what === "binding" ? "import" : "module", index] as const;
    if (ref[0] === "import")
      file.uses.push({
        ...{ name: leaf.text, line: leaf.line + 1, column: leaf.column, kind: "import", within: -1, ref },
      });
    return bind(outer, leaf.text, { ref });
  }
  if (isLocal) return bind(outer, leaf.text, { hint });
  const name = plainName(leaf);
  const said = spec.owner?.(text, box.start, leaf.start);
  const owner = said ?? box.parent?.owner ?? "";
  const symbol = owner === "" ? name : `${owner}.${name}`;
  const isMemberOf = outer.kind === "class" || said !== undefined;
  const refined = spec.refine?.(rule, text.slice(leaf.end, leaf.end + 40)) ?? rule;
  const kind = kindOf(isFunction ? "function" : refined, isMemberOf);
  const def = file.defs.length;
  // Of several on one node none is what the others stand in.
  if (!box.rule.each && leaf.what !== "binding") {
    box.def = def;
    box.owner = symbol;
  }
  file.defs.push({
    ...{ name, symbol, kind, owner, line: leaf.line + 1, last: box.last + 1, scope: box.scope! },
    hint: CLASSES.has(kind) || (isCallable(kind) && !spec.before) ? undefined : hint,
  });
  if (box.parent && spec.main?.test(text.slice(box.parent.start, leaf.start)))
    file.exports.push({ name: "default", source: name, from: null });
  // A constructor is called by the name of its class.
  if (name !== owner && (spec.implicit_self || (!isMemberOf && kind !== "field" && kind !== "method")))
    bind(outer, leaf.text, { ref: ["def", def] });
}

/** Types that say nothing about what something is. */
const ANYTHING = /^(any|unknown|object|Any|dynamic|mixed)$/;

/** A grammar that lost its way takes these for names. */
const RESERVED =
  /^(int|char|void|unsigned|signed|short|long|float|double|static|struct|union|enum|if|else|for|while|return|const|let|switch|case|throw|try|catch|new|await|yield)$/;

function isCallable(kind: DefKind): boolean {
  return kind === "function" || kind === "method";
}

function kindOf(kind: DefKind, isMember: boolean): DefKind {
  if (!isMember) return kind;
  return kind === "function" ? "method" : kind === "variable" ? "field" : kind;
}

export function hintOf(leaf: Leaf, text: string, spec: Spec): Hint | undefined {
  if (spec.before) {
    const before = spec.before.exec(text.slice(Math.max(0, leaf.start - BEFORE), leaf.start))?.[1];
    if (before !== undefined && !/^(var|auto|let|val|const|return|new|static|final|object|dynamic|mixed)$/.test(before))
      return { path: before, isCall: false };
  }
  const groups = matchAt(spec.after, text, leaf.end)?.groups;
  const path = groups?.["type"] ?? groups?.["made"] ?? groups?.["called"] ?? groups?.["same"];
  return path === undefined || ANYTHING.test(path) ? undefined : { path, isCall: groups?.["called"] !== undefined };
}

function matchAt(pattern: RegExp | undefined, text: string, at: number): RegExpExecArray | null {
  if (!pattern) return null;
  pattern.lastIndex = at;
  return pattern.exec(text);
}

/** Where the receiver ends, when a name is a member of something; else -1. */
export function isMember(text: string, start: number, spec: Spec): number {
  let at = start - 1;
  while (at >= 0 && text.charCodeAt(at) <= 32) at--;
  const char = text[at];
  const before = text[at - 1];
  let end = -1;
  if (char === "." && before !== ".") end = at;
  else if ((char === ":" && before === ":") || (char === ">" && before === "-" && spec.arrows === true)) end = at - 1;
  if (end < 0) return -1;
  while (end > 0 && "?!&".includes(text[end - 1]!)) end--;
  while (end > 0 && text.charCodeAt(end - 1) <= 32) end--;
  return end;
}

function takeLinks(file: Declared, links: readonly Link[], box: Box, text: string, scope: Scope): void {
  for (const { module, name, local, exported, at } of links) {
    const own = module === "";
    const index = own ? null : file.imports.push({ module, name }) - 1;
    const ref: Ref | undefined =
      index === null || name === "**" ? undefined : name === "*" ? ["module", index] : ["import", index];
    if (local !== undefined && ref) bind(scope, local, { ref });
    if (exported !== undefined) file.exports.push({ name: exported, source: name === "**" ? "*" : name, from: index });
    if (at < 0 || name.startsWith("*")) continue;
    const before = text.slice(0, box.start + at);
    const line = before.length - before.lastIndexOf("\n") - 1;
    const row = box.line + (text.slice(box.start, box.start + at).match(/\n/g)?.length ?? 0) + 1;
    // A name that is given on and not taken from elsewhere is looked up like any other.
    file.uses.push({ name, line: row, column: line, kind: "import", within: -1, ref: ref ?? ["free", name] });
  }
}
