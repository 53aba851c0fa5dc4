import { bothStreams, linesOf } from "../lines.ts";
import type { Enrich } from "../types.ts";
import { type Diagnostic, renderDiagnostics } from "./diagnostics.ts";

const LINE = /^(\S[^:]*):(\d+):(?:(\d+):)? (fatal error|error|warning): (.*?)(?: \[(-W[^\]]+)\])?$/;
const LINK =
  /^(.*?:\s*undefined reference to .*|.*\bld(\.\w+)?: .*|collect2: .*|clang(\+\+)?: error: .*|make(\[\d+\])?: \*\*\* .*)$/;

/** gcc and clang, and what make says around them. */
export const gcc: Enrich = (ran, room) => {
  const lines = linesOf(bothStreams(ran));
  const found: Diagnostic[] = [];
  for (const line of lines) {
    const match = LINE.exec(line);
    if (!match) continue;
    found.push({
      file: match[1]!,
      at: match[3] === undefined ? match[2]! : `${match[2]}:${match[3]}`,
      severity: match[4] === "warning" ? "warning" : "error",
      message: match[5]!,
      code: match[6],
    });
  }
  const link = lines.filter((line) => LINK.test(line));
  if (found.length === 0) return undefined;
  return renderDiagnostics(found, room, link.slice(0, 8).join("\n"));
};
