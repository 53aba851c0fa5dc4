import { linesOf } from "../lines.ts";
import type { Enrich } from "../types.ts";
import { type Diagnostic, renderDiagnostics } from "./diagnostics.ts";

const CONCISE = /^(\S[^:]*):(\d+:\d+): ([A-Z]+\d+|error:|invalid-syntax:?|SyntaxError:) (?:\[\*\] )?(.*)$/;
const FULL = /^([A-Z]+\d+|invalid-syntax:?) (?:\[\*\] )?(.+)$/;
const PLACE = /^ *--> (\S.*?):(\d+:\d+)$/;

/** ruff, in its concise and its full format; mypy and flake8 write the concise one too. */
export const ruff: Enrich = ({ stdout }, room) => {
  const lines = linesOf(stdout);
  const found: Diagnostic[] = [];
  for (const [index, line] of lines.entries()) {
    const concise = CONCISE.exec(line);
    const full = FULL.exec(line);
    const place = full ? PLACE.exec(lines[index + 1] ?? "") : null;
    if (concise) found.push(problem(concise[1]!, concise[2]!, concise[3]!, concise[4]!));
    else if (full && place) found.push(problem(place[1]!, place[2]!, full[1]!, full[2]!));
  }
  if (found.length === 0) return undefined;
  const fixable = lines.findLast((line) => /fixable with/.test(line));
  return { ...renderDiagnostics(found, room, fixable), covers_stderr: false };
};

function problem(file: string, at: string, code: string, message: string): Diagnostic {
  return { file, at, severity: "error", code: code.replace(/:$/, ""), message };
}
