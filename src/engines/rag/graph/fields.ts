import { type Declared, hintOf, isMember } from "./declare.ts";
import type { Spec } from "./languages/spec.ts";
import { classOf } from "./place.ts";
import { type Leaf, plainName } from "./reduce.ts";

const WRITTEN = /^\s*(:[^=\n]{1,80})?=(?![=>~])/;

/** Fields that come into being by being written (`self.x = 1`), where the class does not declare them. */
export function writtenFields(leaves: readonly Leaf[], file: Declared, text: string, spec: Spec): void {
  const known = new Set(file.defs.map(({ symbol }) => symbol));
  for (const [index, leaf] of leaves.entries()) {
    const before = leaves[index - 1];
    const isSelf = before && (before.what === "self" || spec.selves?.includes(before.text));
    const isOwn = leaf.type === "instance_variable" || (isSelf && isMember(text, leaf.start, spec) === before.end);
    if (!isOwn || leaf.settled || !WRITTEN.test(text.slice(leaf.end, leaf.end + 100))) continue;
    const owner = classOf(leaf.box, file);
    const name = plainName(leaf);
    if (owner === undefined || known.has(`${owner}.${name}`)) continue;
    known.add(`${owner}.${name}`);
    file.defs.push({
      ...{ name, symbol: `${owner}.${name}`, kind: "field", owner },
      ...{ line: leaf.line + 1, last: leaf.line + 1, scope: leaf.box.scope! },
      hint: hintOf(leaf, text, spec),
    });
  }
}
