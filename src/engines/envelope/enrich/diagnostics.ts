import { cut, fill, plural, tally } from "../lines.ts";
import type { Digest } from "../types.ts";

export interface Diagnostic {
  readonly file: string;
  /** `12:3`, or `12`. */
  readonly at: string;
  readonly severity: "error" | "warning";
  readonly message: string;
  readonly code?: string | undefined;
}

const PLACES = 8;
/** Each of these is a message of its own, so more of them are told. */
const NAMED = 20;

/** The count, then each message once with its places; errors before warnings. */
export function renderDiagnostics(all: readonly Diagnostic[], room: number, last?: string): Digest {
  const errors = all.filter(({ severity }) => severity === "error");
  const warnings = all.filter(({ severity }) => severity === "warning");
  const files = new Set(all.map(({ file }) => file)).size;
  const counts = [
    errors.length > 0 || warnings.length === 0 ? plural(errors.length, "error") : "",
    warnings.length > 0 ? plural(warnings.length, "warning") : "",
  ].filter(Boolean);
  const hot = tally(all.map(({ file }) => file)).slice(0, 3);
  const most = files > 4 ? `; most in ${hot.map(([file, count]) => `${file} (${count})`).join(", ")}` : "";
  const head = `${counts.join(", ")} in ${plural(files, "file")}${most}`;
  const lines = [...grouped(errors, "error"), ...grouped(warnings, "warning")];
  const body = fill(lines, Math.min(room, 3000) - head.length, (left) => `and ${plural(left, "more message")}`);
  return {
    text: [head, body, ...(last ? [last] : [])].filter(Boolean).join("\n"),
    match_count: all.length,
    covers_stderr: true,
  };
}

function grouped(diagnostics: readonly Diagnostic[], severity: string): string[] {
  const groups = new Map<string, Diagnostic[]>();
  for (const each of diagnostics) {
    const key = `${each.code ?? ""} ${each.message.replace(NAME, "'…'")}`;
    const group = groups.get(key);
    if (group) group.push(each);
    else groups.set(key, [each]);
  }
  return [...groups.values()].map((group) => {
    const { message, code } = group[0]!;
    const isOne = group.every((each) => each.message === message);
    const said = cut(isOne ? message : message.replace(NAME, "'…'"), 240);
    return `${severity}${code ? ` ${code}` : ""}: ${said} @ ${isOne ? places(group) : namedPlaces(group)}`;
  });
}

/** The first name that a message quotes: one rule says the same of many. */
const NAME = /'([^']{1,60})'|`([^`]{1,60})`/;

/** `count a.ts:1:7, total b.ts:3:1`, the first few. */
function namedPlaces(group: readonly Diagnostic[]): string {
  const shown = group.slice(0, NAMED).map(({ file, at, message }) => {
    const [, single, tick] = NAME.exec(message)!;
    return `${single ?? tick} ${file}:${at}`;
  });
  return `${shown.join(", ")}${group.length > NAMED ? ` and ${group.length - NAMED} more` : ""}`;
}

/** `a.ts:1:7,2:40 b.ts:3:1`, the first few. */
function places(group: readonly Diagnostic[]): string {
  const byFile = new Map<string, string[]>();
  for (const { file, at } of group.slice(0, PLACES)) byFile.set(file, [...(byFile.get(file) ?? []), at]);
  const shown = [...byFile].map(([file, at]) => `${file}:${at.join(",")}`).join(" ");
  return group.length > PLACES ? `${shown} and ${group.length - PLACES} more` : shown;
}
