import { applyEdits, type Edit, findNodeAtLocation, modify, type ParseError, parse, parseTree } from "jsonc-parser";
import { Fault } from "../../base/fault.ts";
import type { Entry } from "./entry.ts";

type Table = Record<string, unknown>;

/** JSON with comments and trailing commas, as editors write it. An empty file is an empty object. */
export function readJson(text: string, shown: string): Table {
  const errors: ParseError[] = [];
  const value: unknown = bare(text).trim() === "" ? {} : parse(bare(text), errors, { allowTrailingComma: true });
  const [first] = errors;
  if (first)
    throw new Fault("invalid_args", `${shown} is not JSON (line ${lineAt(bare(text), first.offset)}).`, {
      hint: "Mend it first; nothing was changed.",
    });
  if (!isTable(value)) throw new Fault("invalid_args", `${shown} holds no object.`, { hint: "Nothing was changed." });
  return value;
}

/** The text with our entry in it. Everything else keeps its bytes; of an entry that is there, only what must change does. */
export function withJsonEntry(text: string, table: string, name: string, entry: Entry & Table): string {
  const whole = bare(text).trim() === "" ? "{}\n" : bare(text);
  const there = findNodeAtLocation(parseTree(whole, [], { allowTrailingComma: true })!, [table, name]);
  if (there?.type === "object") {
    const changed = Object.entries(entry).reduce(
      (now, [key, value]) => changeAt(now, [table, name, key], value),
      whole,
    );
    return mark(text) + changed;
  }
  return mark(text) + (afterComment(whole, table, name, entry) ?? changeAt(whole, [table, name], entry));
}

/** Its lines go and nothing else: a library would lay its neighbours out anew and lose their comments. */
export function withoutJsonEntry(text: string, table: string, name: string): string {
  const whole = bare(text);
  const entries = findNodeAtLocation(parseTree(whole, [], { allowTrailingComma: true })!, [table])?.children ?? [];
  const index = entries.findIndex((entry) => entry.children?.[0]?.value === name);
  const entry = entries[index];
  if (!entry) return text;
  const end = entry.offset + entry.length;
  const comma = /^\s*,/.exec(whole.slice(end))?.[0].length ?? 0;
  const previous = comma > 0 ? undefined : entries[index - 1];
  const from = previous && previous.offset + previous.length;
  const edits: Edit[] = [
    ...(from === undefined ? [] : [{ offset: whole.indexOf(",", from), length: 1, content: "" }]),
    { ...linesOf(whole, entry.offset, end + comma), content: "" },
  ];
  return mark(text) + applyEdits(whole, edits);
}

/** The whole lines where nothing else stands on them. */
function linesOf(text: string, from: number, to: number): { offset: number; length: number } {
  const before = /(^|\n)[ \t]*$/.exec(text.slice(0, from));
  const after = /^[ \t]*\r?\n/.exec(text.slice(to));
  if (!before || !after) return { offset: from, length: to - from };
  const offset = before.index + before[1]!.length;
  return { offset, length: to + after[0].length - offset };
}

function changeAt(text: string, path: string[], value: unknown): string {
  return applyEdits(text, modify(text, path, value, { formattingOptions: styleOf(text) }));
}

/** A comment behind the last entry stays with it: ours begins on the next line. */
function afterComment(text: string, table: string, name: string, entry: Entry): string | undefined {
  const last = findNodeAtLocation(parseTree(text, [], { allowTrailingComma: true })!, [table])?.children?.at(-1);
  if (!last) return undefined;
  const end = last.offset + last.length;
  const behind = /^([ \t]*,)?[ \t]*(\/\/[^\r\n]*|\/\*[^\r\n]*?\*\/[ \t]*)(?=\r?\n)/.exec(text.slice(end));
  if (!behind) return undefined;
  const { eol, insertSpaces, tabSize } = styleOf(text);
  const step = insertSpaces ? " ".repeat(tabSize) : "\t";
  const margin = /[ \t]*$/.exec(text.slice(0, last.offset))![0];
  const lines = `${JSON.stringify(name)}: ${JSON.stringify(entry, null, step)}`.split("\n");
  const hadComma = behind[1] !== undefined;
  const edits: Edit[] = [
    ...(hadComma ? [] : [{ offset: end, length: 0, content: "," }]),
    {
      offset: end + behind[0].length,
      length: 0,
      content: lines.map((line) => eol + margin + line).join("") + (hadComma ? "," : ""),
    },
  ];
  return applyEdits(text, edits);
}

/** How this file is written, so that what we add looks like the rest. */
function styleOf(text: string) {
  const indent = /^[{[][ \t]*\r?\n([ \t]+)\S/m.exec(text)?.[1] ?? "  ";
  return {
    insertSpaces: !indent.startsWith("\t"),
    tabSize: indent.startsWith("\t") ? 4 : indent.length,
    eol: text.includes("\r\n") ? "\r\n" : "\n",
  };
}

function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split("\n").length;
}

function mark(text: string): string {
  return text.startsWith("\ufeff") ? "\ufeff" : "";
}

function bare(text: string): string {
  return text.startsWith("\ufeff") ? text.slice(1) : text;
}

export function isTable(value: unknown): value is Table {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
