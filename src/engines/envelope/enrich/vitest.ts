import { bothStreams, linesOf } from "../lines.ts";
import type { Enrich } from "../types.ts";
import { type Failure, failureList, renderTests } from "./report.ts";

const FAIL = /^ FAIL {2}(.+?)(?: \[ .+ \])?$/;
const RUN = /^ *[×✗] (.+?)(?: \d+(?:\.\d+)?m?s)?$/;
const PLACE = /^ *❯ (?:\S+ )?(\S+:\d+):\d+$/;

export const vitest: Enrich = (ran) => {
  const lines = linesOf(bothStreams(ran));
  const files = lines.findLast((line) => /^ *Test Files {2}/.test(line));
  if (files === undefined) return undefined;
  const tests = lines.findLast((line) => /^ +Tests {2}/.test(line));
  const found = failureList();
  let group: Failure[] = [];
  let reading = false;
  const troubles: string[] = [];
  for (const [index, line] of lines.entries()) {
    const fail = FAIL.exec(line);
    if (fail) {
      if (reading) group = [];
      reading = false;
      group.push(found.add({ name: fail[1]!, message: [] }));
    } else if (/^⎯{3,}/.test(line)) {
      group = [];
      if (/Unhandled/.test(line)) troubles.push(line.replaceAll("⎯", "").trim(), ...lines.slice(index + 1, index + 4));
    } else if (group.length > 0) {
      reading = true;
      note(group, line);
    }
  }
  let last: Failure | undefined;
  for (const line of lines) {
    const run = RUN.exec(line);
    const why = /^ +→ (.+)/.exec(line);
    if (why && last) last.message.push(why[1]!);
    last = undefined;
    if (!run) continue;
    const name = run[1]!;
    last = found.all.find((known) => known.name === name || known.name.endsWith(` > ${name}`));
    last ??= found.add({ name, message: [] });
  }
  for (const failure of found.all) failure.message = withoutRepeats(failure.message);
  if (ran.exit_code !== 0 && found.all.length + troubles.length === 0) return undefined;
  const summary = [files, tests].map((line) => line?.trim().replace(/ {2,}/, " ")).filter((line) => line !== undefined);
  return renderTests({ summary: summary.join("; "), failures: found.all, troubles });
};

/** The message stands before the first blank line, the place after the first arrow; the diff in between says it again. */
function note(group: readonly Failure[], line: string): void {
  const place = PLACE.exec(line);
  for (const failure of group) {
    if (place) failure.place ??= place[1];
    else if (failure.place === undefined && !failure.message.includes("") && failure.message.length < 4)
      failure.message.push(line);
  }
}

/** The run's list and the report below it say the same, the one with the error's class before it. */
function withoutRepeats(lines: readonly string[]): string[] {
  return lines.filter((line, index) => !lines.some((other, at) => at < index && other.endsWith(line)));
}
