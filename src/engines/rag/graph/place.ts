import type { Declared } from "./declare.ts";
import type { Box } from "./reduce.ts";

/** The definition that a place stands in, or -1. */
export function defAround(box: Box): number {
  for (let at: Box | undefined = box; at; at = at.parent) if (at.def >= 0) return at.def;
  return -1;
}

/** The class whose `this` a place has. */
export function classOf(box: Box, file: Declared): string | undefined {
  for (let at: Box | undefined = box; at; at = at.parent) {
    if (at.def >= 0) {
      const { kind, owner, symbol } = file.defs[at.def]!;
      if (kind === "class" || kind === "interface" || kind === "enum") return symbol;
      if ((kind === "method" || kind === "field") && owner !== "") return owner;
    } else if (at.owner !== undefined && at.owner !== (at.parent?.owner ?? "")) return at.owner;
  }
  return undefined;
}
