import type { Node, Tree } from "web-tree-sitter";
import type { Language } from "./languages.ts";

/** A named thing in a file, by lines counted from 0; the last line belongs to it. Comments and decorators before it are its own. */
export interface Definition {
  readonly name: string;
  readonly type: string;
  readonly first: number;
  readonly last: number;
  readonly inner: readonly Definition[];
}

const MAX_DEPTH = 12;
/** What is inside a function this short is not worth a place of its own. */
const WORTH_OPENING = 40;
const COMMENT = /comment|decorator|attribute_item|annotation/;

/** The definitions of a file, nested as they stand. */
export function definitionsOf(tree: Tree, language: Language): readonly Definition[] {
  return language.defines ? within(tree.rootNode, language, 0) : [];
}

function within(node: Node, language: Language, depth: number): Definition[] {
  const found: Definition[] = [];
  let leading: number | undefined;
  let previousLast = -1;
  for (const child of node.namedChildren) {
    if (!child) continue;
    const first = child.startPosition.row;
    const last = lastLine(child);
    if (COMMENT.test(child.type)) {
      // Only what stands right above, on lines of its own, belongs to what follows.
      if (leading === undefined || first > previousLast + 1) leading = first > previousLast ? first : undefined;
      previousLast = last;
      continue;
    }
    const from = leading !== undefined && first <= previousLast + 1 ? leading : first;
    leading = undefined;
    previousLast = last;
    found.push(...of(child, from, last, language, depth));
  }
  return found;
}

function of(node: Node, first: number, last: number, language: Language, depth: number): Definition[] {
  if (depth > MAX_DEPTH) return [];
  if (language.defines!.has(node.type)) {
    const name = nameOf(node);
    if (name === undefined) return [];
    const inner = mayHold(node) ? insideOf(node, language, depth + 1) : [];
    return [{ name, type: node.type, first, last, inner }];
  }
  if (!language.through!.has(node.type)) return [];
  const inner = within(node, language, depth + 1);
  // `export` and the like: one thing, with the comment that stands before the wrapper.
  return inner.length === 1 && inner[0]!.last === last ? [{ ...inner[0]!, first }] : inner;
}

function mayHold(node: Node): boolean {
  if (node.childForFieldName("body") === null && !/decorated|template|declaration$/.test(node.type)) return false;
  const isFunction = /function|method|constructor|lexical|variable/.test(node.type);
  return !isFunction || node.endPosition.row - node.startPosition.row > WORTH_OPENING;
}

function insideOf(node: Node, language: Language, depth: number): Definition[] {
  const held = node.childForFieldName("definition");
  if (held) return insideOf(held, language, depth);
  const body = node.childForFieldName("body") ?? valueBody(node);
  if (body) return within(body, language, depth);
  // Java and C++ keep members below a node that has no field name.
  return node.namedChildren.flatMap((child) =>
    child && (language.through!.has(child.type) || /specifier|definition/.test(child.type))
      ? within(child, language, depth)
      : [],
  );
}

/** `const create = () => { … }` */
function valueBody(node: Node): Node | null {
  const declarator = node.namedChildren.find((child) => child?.type === "variable_declarator");
  return declarator?.childForFieldName("value")?.childForFieldName("body") ?? null;
}

function lastLine(node: Node): number {
  const { row, column } = node.endPosition;
  return column === 0 && row > node.startPosition.row ? row - 1 : row;
}

const NAME_DEPTH = 6;

/** The name a definition gives, however deep its grammar hides it. Several on one line (`const a = 1, b = 2`) are joined. */
function nameOf(node: Node): string | undefined {
  for (const field of ["name", "declarator", "definition", "type", "left"]) {
    const child = node.childForFieldName(field);
    if (!child) continue;
    const name = field === "name" ? child.text : deepName(child, 0);
    if (name !== undefined) return short(name);
  }
  const names: string[] = [];
  for (const child of node.namedChildren) {
    if (!child || names.length >= 8) continue;
    if (
      /declarator|spec|alias|selectors|function_definition|class_specifier|struct_specifier|declaration/.test(
        child.type,
      )
    ) {
      const name = deepName(child, 0);
      if (name !== undefined) names.push(name);
    }
  }
  return names.length > 0 ? short(names.join(" ")) : undefined;
}

function deepName(node: Node, depth: number): string | undefined {
  if (/identifier|^name$|constant|selectors|^word$/.test(node.type)) return node.text;
  if (depth > NAME_DEPTH) return undefined;
  for (const field of ["name", "declarator", "definition", "pattern"]) {
    const child = node.childForFieldName(field);
    const name = child ? deepName(child, depth + 1) : undefined;
    if (name !== undefined) return name;
  }
  for (const child of node.namedChildren) {
    if (!child || /body|block|value|parameter|argument/.test(child.type)) continue;
    if (!/spec|declarator|definition|declaration|identifier/.test(child.type)) continue;
    const name = deepName(child, depth + 1);
    if (name !== undefined) return name;
  }
  return undefined;
}

function short(name: string): string {
  return name.replace(/^#/, "").replace(/\s+/g, " ").slice(0, 120);
}
