import { bothStreams, linesOf } from "../lines.ts";
import type { Enrich } from "../types.ts";
import { type Failure, type FailureList, failureList, renderTests } from "./report.ts";

const COUNT =
  /^=* ?((?:\d+ (?:passed|failed|errors?|skipped|xfailed|xpassed|deselected|warnings?|rerun),? ?)+in [\d.]+s.*?|no tests ran in .*?) ?=*$/;
const STARTS = /^=+ (test session starts|FAILURES|ERRORS|short test summary info) =+$/;
const SECTION = /^=+ (.+?) =+$/;
const HEADER = /^_{3,} (.+?) _{3,}$/;
const PLACE = /^(\S[^:]*):(\d+): ?(\w[\w.]*)?$/;
const BRIEF = /^(?:FAILED|ERROR) (\S.*?)(?: - (.*))?$/;
const RUN = /^(?:\[gw\d+\] \[ *\d+%\] )?(?:(\S.*?::.*?) (?:FAILED|ERROR)\b|(?:FAILED|ERROR) (\S+::.*))/;

export const pytest: Enrich = (ran) => {
  const lines = linesOf(bothStreams(ran));
  const last = lines.findLast((line) => COUNT.test(line));
  if (last === undefined && !lines.some((line) => STARTS.test(line))) return undefined;
  const found = failureList();
  const troubles = lines.filter((line) => /^INTERNALERROR>|^!{3,} .* !{3,}$|^(ERROR: |usage: )/.test(line));
  readSections(lines, found);
  const brief = lines.findIndex((line) => /^=+ short test summary info =+$/.test(line));
  for (const [index, line] of lines.entries()) {
    const short = brief >= 0 && index > brief ? BRIEF.exec(line) : null;
    const run = short ? null : RUN.exec(line);
    const id = short?.[1] ?? run?.[1] ?? run?.[2];
    if (id !== undefined) mergeId(found, id, short?.[2]);
  }
  if (ran.exit_code !== 0 && found.all.length + troubles.length === 0) return undefined;
  return renderTests({
    summary: COUNT.exec(last ?? "")?.[1] ?? "pytest did not finish",
    failures: found.all,
    troubles,
  });
};

/** What stands under FAILURES and ERRORS. */
function readSections(lines: readonly string[], found: FailureList): void {
  let inside = false;
  let current: Failure | undefined;
  for (const line of lines) {
    const section = SECTION.exec(line);
    if (section) {
      inside = section[1] === "FAILURES" || section[1] === "ERRORS";
      current = undefined;
      continue;
    }
    if (!inside) continue;
    const header = HEADER.exec(line);
    if (header) {
      current = found.add({ name: header[1]!, message: [] });
      continue;
    }
    if (!current) continue;
    if (/^E( |$)/.test(line)) current.message.push(line.slice(1));
    const place = PLACE.exec(line);
    if (place) current.place = `${place[1]}:${place[2]}`;
  }
}

/** `file::Class::test` belongs to the section called `Class.test`, in its file when there are several. */
function mergeId(found: FailureList, id: string, message: string | undefined): void {
  const parts = id.split("::");
  const name = parts.length > 1 ? parts.slice(1).join(".") : id;
  const failure: Failure = { name: id, message: message === undefined ? [] : [message] };
  const same = found.all.find((known) => known.name === id || known.name.startsWith(`${id} (`));
  const open = found.all.filter(({ name: known }) => known.replace(/^ERROR (at \w+ of|collecting) /, "") === name);
  const match = same ?? open.find(({ place }) => place?.startsWith(`${parts[0]}:`)) ?? open[0];
  found.merge(failure, (known) => known === match);
  if (!match || match === same) return;
  const phase = /^ERROR at (\w+)/.exec(match.name)?.[1];
  match.name = phase === undefined ? id : `${id} (${phase})`;
}
