import { parse } from "smol-toml";
import { Fault } from "../../base/fault.ts";
import type { Entry } from "./entry.ts";

export function readToml(text: string, shown: string): Record<string, unknown> {
  try {
    return parse(text);
  } catch (error) {
    const line = (error as { line?: number }).line;
    throw new Fault("invalid_args", `${shown} is not TOML${line === undefined ? "" : ` (line ${line})`}.`, {
      hint: "Mend it first; nothing was changed.",
    });
  }
}

/** The text with our table in it, as text: no library writes TOML back with its comments. */
export function withTomlEntry(text: string, table: string, name: string, entry: Entry): string {
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const section = sectionOf(text, table, name);
  const lines = Object.entries(entry).map(([key, value]) => `${key} = ${JSON.stringify(value)}`);
  if (!section) {
    const gap = text === "" ? "" : text.endsWith("\n") ? eol : eol + eol;
    return `${text}${gap}${[`[${table}.${name}]`, ...lines].join(eol)}${eol}`;
  }
  let body = text.slice(section.body, section.end);
  for (const [index, key] of Object.keys(entry).entries()) body = withKey(body, key, lines[index]!, eol);
  return text.slice(0, section.body) + body + text.slice(section.end);
}

/** Without our table and the blank line that we put before it. */
export function withoutTomlEntry(text: string, table: string, name: string): string {
  const section = sectionOf(text, table, name);
  if (!section) return text;
  const before = text.slice(0, section.start).replace(/(\r?\n)\r?\n$/, "$1");
  return before + text.slice(section.end);
}

interface Section {
  readonly start: number;
  readonly body: number;
  readonly end: number;
}

/** From its header to the next one that is not below it. */
function sectionOf(text: string, table: string, name: string): Section | undefined {
  const own = new RegExp(String.raw`^[ \t]*\[[ \t]*${table}[ \t]*\.[ \t]*(["']?)${name}\1[ \t]*\][^\n]*\n?`, "m");
  const header = own.exec(text);
  if (!header) return undefined;
  const body = header.index + header[0].length;
  const below = new RegExp(String.raw`^[ \t]*\[[ \t]*${table}[ \t]*\.[ \t]*(["']?)${name}\1[ \t]*\.`);
  for (const next of text.slice(body).matchAll(/^[ \t]*\[[^\n]*$/gm))
    if (!below.test(next[0]))
      return { start: header.index, body, end: body + withoutLead(text.slice(body), next.index) };
  return { start: header.index, body, end: text.length };
}

/** Comments right above the next header belong to that one. */
function withoutLead(text: string, at: number): number {
  const lead = /(?:^[ \t]*(?:#[^\n]*)?\r?\n)+$/m.exec(text.slice(0, at));
  return lead && lead.index + lead[0].length === at ? lead.index : at;
}

/** One key of a table, exchanged or put first. A list may go over several lines. */
function withKey(body: string, key: string, line: string, eol: string): string {
  const found = new RegExp(
    String.raw`^[ \t]*${key}[ \t]*=[ \t]*(?:\[[^\]]*\]|[^\n#\r]*?)(?=[ \t]*(?:#[^\n]*)?\r?$)`,
    "m",
  ).exec(body);
  if (!found) return `${line}${eol}${body}`;
  return body.slice(0, found.index) + line + body.slice(found.index + found[0].length);
}
