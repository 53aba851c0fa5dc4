import { bothStreams } from "../lines.ts";
import type { Enrich } from "../types.ts";
import { type Diagnostic, renderDiagnostics } from "./diagnostics.ts";

const LINE = /^(\S.*?)(?:\((\d+),(\d+)\)|:(\d+):(\d+))(?::| -) (error|warning) (TS\d+): (.*)$/gm;
const GLOBAL = /^(error) (TS\d+): (.*)$/gm;

export const tsc: Enrich = (ran, room) => {
  const text = bothStreams(ran);
  if (!/\b(error|warning) TS\d+: /.test(text)) return undefined;
  const found: Diagnostic[] = [...text.matchAll(LINE)].map((match) => ({
    file: match[1]!,
    at: `${match[2] ?? match[4]}:${match[3] ?? match[5]}`,
    severity: match[6] === "error" ? "error" : "warning",
    code: match[7]!,
    message: match[8]!,
  }));
  for (const [, , code, message] of text.matchAll(GLOBAL))
    found.push({ file: "tsconfig", at: "-", severity: "error", code: code!, message: message! });
  return found.length === 0 ? undefined : renderDiagnostics(found, room);
};
