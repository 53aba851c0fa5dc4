import { KINDS, type Kind } from "../kind.ts";
import { DEF_KINDS, type DefKind, type Ref } from "./types.ts";

export interface FileInfo {
  readonly id: number;
  readonly path: string;
  readonly folder: string;
  readonly kind: Kind;
  readonly language: string;
  /** Languages that use each other's definitions have one name here. */
  readonly family: string;
}

/** A definition as it is stored. */
export interface DefRow {
  readonly file: FileInfo;
  readonly ord: number;
  readonly name: string;
  readonly symbol: string;
  /** What it stands in, or "". */
  readonly owner: string;
  readonly kind: DefKind;
  readonly line: number;
  readonly last: number;
  readonly type: Ref | undefined;
}

/** Families where a class is written down in one place. */
export const CLOSED = /^(script|python|java)$/;

/** `match` of `Router.match`. */
export function lastOf(symbol: string): string {
  return symbol.slice(symbol.lastIndexOf(".") + 1);
}

export function isEnd(symbol: string, end: string): boolean {
  return symbol === end || symbol.endsWith(`.${end}`);
}

/** What a file is read with. */
export const FILE = "SELECT id, path, kind, language FROM files";

export interface FileRow {
  readonly id: number;
  readonly path: string;
  readonly kind: number;
  readonly language: string;
}

export interface StoredDef {
  readonly file: number;
  readonly ord: number;
  readonly name: string;
  readonly symbol: string;
  readonly kind: number;
  readonly line: number;
  readonly last: number;
  readonly type: string | null;
}

const FAMILIES: Readonly<Record<string, string>> = {
  typescript: "script",
  tsx: "script",
  javascript: "script",
  c: "c",
  cpp: "c",
};

export function infoOf({ id, path, kind, language }: FileRow): FileInfo {
  const folder = path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : "";
  return { id, path, folder, kind: KINDS[kind]!, language, family: FAMILIES[language] ?? language };
}

export function defOf({ ord, name, symbol, kind, line, last, type }: StoredDef, file: FileInfo): DefRow {
  const owner = symbol === name ? "" : symbol.slice(0, -name.length - 1);
  const parsed = type === null ? undefined : (JSON.parse(type) as Ref);
  return { file, ord, name, symbol, owner, kind: DEF_KINDS[kind]!, line, last, type: parsed };
}

export function isTop({ owner, kind, file }: DefRow): boolean {
  return owner === "" || (kind !== "method" && kind !== "field" && /c|csharp|java|ruby|php|rust/.test(file.family));
}

/** All of one symbol: overloads, or a declaration and what it declares. */
export function isOne(defs: readonly DefRow[]): boolean {
  const [first] = defs;
  return (
    first !== undefined &&
    defs.every((one) => one.symbol === first.symbol && (one.file.id === first.file.id || first.file.family === "c"))
  );
}
