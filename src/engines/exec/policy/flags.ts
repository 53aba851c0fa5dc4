export type ValueKind = "none" | "text" | "int" | "path" | "attached";

export interface FlagTable {
  readonly kinds: ReadonlyMap<string, ValueKind>;
  /** `-5` and the like. */
  readonly numbers: boolean;
}

const SPEC = /^(-[^=[\]]+)(=int|=path|=|\[=?\])?$/;

export function parseFlags(text: string): FlagTable {
  const kinds = new Map<string, ValueKind>();
  let numbers = false;
  for (const item of text.split(/\s+/).filter(Boolean)) {
    if (item === "-#") numbers = true;
    else kinds.set(...parseFlag(item));
  }
  return { kinds, numbers };
}

export function parseFlag(item: string): [name: string, kind: ValueKind] {
  const match = SPEC.exec(item);
  if (!match) throw new TypeError(`not a flag of a policy: ${item}`);
  const [, name, suffix] = match;
  if (suffix === undefined) return [name!, "none"];
  if (suffix === "=") return [name!, "text"];
  return [name!, suffix === "=int" ? "int" : suffix === "=path" ? "path" : "attached"];
}

/** The table with an operator's flags added and others taken out. */
export function adjusted(table: FlagTable, add: readonly string[], remove: readonly string[]): FlagTable {
  const kinds = new Map(table.kinds);
  for (const item of add) kinds.set(...parseFlag(item));
  for (const item of remove) kinds.delete(item.replace(/[=[].*$/, ""));
  return { kinds, numbers: table.numbers && !remove.includes("-#") };
}
