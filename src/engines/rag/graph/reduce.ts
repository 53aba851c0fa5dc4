import type { Tree } from "web-tree-sitter";
import type { Rule, Spec } from "./languages/spec.ts";
import type { Scope } from "./scope.ts";
import type { Ref } from "./types.ts";

/** A node that a rule speaks of. */
export interface Box {
  readonly type: string;
  readonly rule: Rule;
  readonly start: number;
  readonly end: number;
  /** Counted from 0. */
  readonly line: number;
  readonly last: number;
  readonly parent: Box | undefined;
  /** Leaves that stand in it and in no box inside it. */
  readonly own: Leaf[];
  isImport: boolean;
  /** Whether its value is a function. */
  isFunction: boolean;
  scope: Scope | undefined;
  /** The definition it makes, or -1. */
  def: number;
  /** What its members belong to: `Router`; set where it is no definition's name. */
  owner: string | undefined;
}

/** A name in the text. */
export interface Leaf {
  readonly what: Spec["leaves"][string];
  readonly type: string;
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly line: number;
  readonly column: number;
  readonly box: Box;
  /** It is a declaration, or nothing for the graph: no use. */
  settled: boolean;
  /** What it stands for, once that is known. */
  value: Ref | undefined;
}

/** How much of a node is looked at to see what it begins with. */
const HEAD = 200;

/**
 * The tree without what the graph does not look at: names, and the nodes that say what they mean. To walk all of it from outside the
 * parser would take longer than to parse it.
 */
export function reduce(tree: Tree, text: string, spec: Spec): { readonly boxes: Box[]; readonly leaves: Leaf[] } {
  const root = boxOf("", {}, 0, text.length, 0, 0, undefined);
  const boxes = [root];
  const leaves: Leaf[] = [];
  let open = root;
  let done = -1;
  for (const node of tree.rootNode.descendantsOfType(wanted(spec))) {
    if (!node) continue;
    const { type, startIndex: start } = node;
    // What an import or a longer name holds is part of it.
    if (start < done) continue;
    const end = node.endIndex;
    while (open.parent && open.end <= start) open = open.parent;
    const { row, column } = node.startPosition;
    const what = Object.hasOwn(spec.leaves, type) ? spec.leaves[type]! : undefined;
    if (what !== undefined) {
      const leaf: Leaf = {
        ...{ what, type, text: text.slice(start, end), start, end, line: row, column, box: open },
        settled: false,
        value: undefined,
      };
      open.own.push(leaf);
      leaves.push(leaf);
      done = end;
      continue;
    }
    // A keyword that is called like its node.
    if (end - start === type.length && text.startsWith(type, start)) continue;
    const rule = spec.rules[type]!;
    open = boxOf(type, rule, start, end, row, node.endPosition.row, open);
    boxes.push(open);
    if (rule.isFunction && open.parent) open.parent.isFunction = true;
    open.isImport = rule.imports?.test(text.slice(start, Math.min(end, start + HEAD))) === true;
    if (open.isImport) done = end;
  }
  return { boxes, leaves };
}

function boxOf(
  type: string,
  rule: Rule,
  start: number,
  end: number,
  line: number,
  last: number,
  parent: Box | undefined,
): Box {
  return {
    type,
    rule,
    start,
    end,
    line,
    last,
    parent,
    own: [],
    isImport: false,
    isFunction: false,
    scope: undefined,
    def: -1,
    owner: undefined,
  };
}

/** Without the sign that some languages put before fields and variables. */
export function plainName({ type, text }: Leaf): string {
  return /^(private_property_identifier|variable_name|instance_variable)$/.test(type)
    ? text.replace(/^[#$@]+/, "")
    : text;
}

const lists = new WeakMap<Spec, string[]>();

function wanted(spec: Spec): string[] {
  let list = lists.get(spec);
  if (!list) lists.set(spec, (list = [...Object.keys(spec.leaves), ...Object.keys(spec.rules)]));
  return list;
}
