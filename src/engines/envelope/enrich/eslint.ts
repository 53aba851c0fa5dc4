import { linesOf } from "../lines.ts";
import type { Enrich } from "../types.ts";
import { type Diagnostic, renderDiagnostics } from "./diagnostics.ts";
import { shortPath } from "./report.ts";

const PROBLEM = /^ +(\d+:\d+) +(error|warning) +(.*?)(?: {2,}([@\w/-]+))?$/;
const TOTAL = /^✖ \d+ problems? \(/;

/** The stylish format: a file's name, its problems under it. */
export const eslint: Enrich = ({ stdout }, room) => {
  const lines = linesOf(stdout);
  if (!lines.some((line) => TOTAL.test(line))) return undefined;
  const found: Diagnostic[] = [];
  let file = "";
  for (const line of lines) {
    const match = PROBLEM.exec(line);
    if (/^\S.*\.\w+$/.test(line)) file = shortPath(line);
    if (match)
      found.push({
        file,
        at: match[1]!,
        severity: match[2] === "error" ? "error" : "warning",
        message: match[3]!.trim(),
        code: match[4],
      });
  }
  return found.length === 0 ? undefined : { ...renderDiagnostics(found, room), covers_stderr: false };
};
