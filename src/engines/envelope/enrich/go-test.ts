import { bothStreams, linesOf, plural } from "../lines.ts";
import type { Enrich } from "../types.ts";
import { type Failure, failureList, renderTests, shortPath } from "./report.ts";

const FAIL = /^\s*--- FAIL: (\S+) \(/;
const PASS = /^\s*--- PASS: /;
const RUN = /^=== (?:RUN|CONT|NAME) +(\S+)/;
const SAID = /^\s+(\S+\.go:\d+): ?(.*)$/;
/** A line of the stack that is not Go's own. */
const FRAME = /^\t((?!\S*\/src\/(?:testing|runtime)\/)\S+\.go:\d+)/;
const PACKAGE = /^(ok|FAIL|---|\?) ?\s*\t(\S+)(?:\t| )(.*)$/;

export const goTest: Enrich = (ran) => {
  const lines = linesOf(fromJson(bothStreams(ran)));
  const packages = lines.map((line) => PACKAGE.exec(line)).filter((match) => match !== null);
  const isGo = packages.length > 0 || lines.some((line) => FAIL.test(line) || RUN.test(line));
  if (!isGo) return undefined;
  const found = failureList();
  const logs = new Map<string, Failure>();
  let reading: Failure | undefined;
  let panicked: Failure | undefined;
  for (const line of lines) {
    const run = RUN.exec(line);
    const fail = FAIL.exec(line);
    const said = SAID.exec(line);
    if (run) {
      reading = logs.get(run[1]!) ?? { name: run[1]!, message: [] };
      logs.set(run[1]!, reading);
    } else if (fail) {
      const known = logs.get(fail[1]!) ?? { name: fail[1]!, message: [] };
      reading = found.all.includes(known) ? known : found.add(known);
    } else if (PASS.test(line) || PACKAGE.test(line) || /^(FAIL|PASS|ok)\b/.test(line)) reading = undefined;
    else if (reading && said) say(reading, said[1]!, said[2]!);
    else if (reading && /^panic: /.test(line)) {
      reading.message.push(line);
      panicked = reading;
    } else if (panicked && FRAME.test(line)) panicked.place ??= shortPath(FRAME.exec(line)![1]!);
    else if (reading && /^\s{4,}\S/.test(line) && reading.message.length < 6) reading.message.push(line);
  }
  const troubles = lines.filter(
    (line) =>
      /^# \S|^\S+\.go:\d+:\d+: |\[(build|setup) failed\]|^fatal error: /.test(line) ||
      (!panicked && /^panic: /.test(line)),
  );
  // A test that only holds failed subtests says nothing of its own.
  const failures = found.all.filter(
    ({ name, message }) => message.length > 0 || !found.all.some((other) => other.name.startsWith(`${name}/`)),
  );
  if (ran.exit_code !== 0 && failures.length + troubles.length === 0) return undefined;
  const bad = packages.filter(([, verdict]) => verdict === "FAIL").map(([, , name]) => name!);
  const good = packages.filter(([, verdict]) => verdict === "ok").length;
  const summary = `${failures.length} failed in ${plural(bad.length, "package")}${bad.length === 0 ? "" : ` (${bad.slice(0, 5).join(", ")}${bad.length > 5 ? ", …" : ""})`}; ${good} ok`;
  return renderTests({ summary, failures, troubles });
};

/** A test says things in many places: each keeps its own, unless there is only one. */
function say(failure: Failure, place: string, text: string): void {
  if (failure.place === undefined) {
    failure.place = place;
    if (text !== "") failure.message.push(text);
  } else failure.message.push(place === failure.place ? text : `${place}: ${text}`);
}

/** `go test -json` wraps the same text, a line each. */
function fromJson(text: string): string {
  if (!/^\{"(Time|Action|ImportPath)"/m.test(text)) return text;
  return linesOf(text)
    .map((line) => {
      try {
        const event = JSON.parse(line) as { Action?: string; Output?: string };
        return event.Output ?? "";
      } catch {
        return `${line}\n`;
      }
    })
    .join("");
}
