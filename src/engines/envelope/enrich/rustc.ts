import { bothStreams, linesOf } from "../lines.ts";
import type { Enrich } from "../types.ts";
import { type Diagnostic, renderDiagnostics } from "./diagnostics.ts";

const HEAD = /^(error|warning)(?:\[(E\d+|[\w:]+)\])?: (.*)$/;
const PLACE = /^ *--> (\S.*?):(\d+:\d+)$/;

/** rustc and clippy, as cargo shows them. */
export const rustc: Enrich = (ran, room) => {
  const lines = linesOf(bothStreams(ran));
  const found: Diagnostic[] = [];
  const loose: string[] = [];
  for (const [index, line] of lines.entries()) {
    const head = HEAD.exec(line);
    if (!head) continue;
    const place = lines
      .slice(index + 1, index + 4)
      .map((next) => PLACE.exec(next))
      .find((match) => match !== null);
    if (!place) {
      if (head[1] === "error") loose.push(line);
      continue;
    }
    const why = lines
      .slice(index + 2, index + 12)
      .map((next) => /^ *\|.*[\^-]+ (\S.*)$/.exec(next)?.[1])
      .find(Boolean);
    found.push({
      file: place[1]!,
      at: place[2]!,
      severity: head[1] === "error" ? "error" : "warning",
      code: head[2],
      message: why === undefined ? head[3]! : `${head[3]} (${why})`,
    });
  }
  if (found.length === 0) return undefined;
  return renderDiagnostics(found, room, loose.slice(0, 4).join("\n"));
};
