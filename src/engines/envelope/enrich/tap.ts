import { bothStreams, linesOf } from "../lines.ts";
import type { Enrich } from "../types.ts";
import { counts, type Failure, renderTests, shortPath } from "./report.ts";

const POINT = /^(\s*)(ok|not ok)\b(?: (\d+))?(?: -)? ?(.*)$/;
const PLAN = /^1\.\.(\d+)/;
const SAYS = /^(?:message|error|failureMessage):\s*(.*)$/;
const AT = /^(?:location|at|file):\s*(?:.*\()?['"]?([^'"()]*?:\d+)(?::\d+)?['"]?\)?$/;
/** What tape and its like say about an assertion, in place of a message. */
const VALUE = /^(expected|actual|wanted|found|stack):\s*(.*)$/;
const INNER = /\(?((?:file:\/\/|\/|\.{0,2}\w)[^\s()]*\.\w+:\d+)(?::\d+)?\)?/;
/** Keys of a diagnostic that repeat what others say better. */
const NOISE = /^(duration_ms|type|failureType|code|name|operator|stack|\.\.\.|---|at )/;

interface Point extends Failure {
  readonly indent: number;
  isRollUp: boolean;
}

/** TAP, and what looks like it: node:test, tap, prove, bats. */
export const tap: Enrich = (ran) => {
  const lines = linesOf(bothStreams(ran));
  const seen = { passed: 0, failed: 0, skipped: 0, todo: 0 };
  let planned: number | undefined;
  const failures: Point[] = [];
  const troubles: string[] = [];
  const told: Record<string, number> = {};
  for (const [index, line] of lines.entries()) {
    const point = POINT.exec(line);
    if (point) {
      readPoint(point, lines, index, failures, seen);
      continue;
    }
    planned = PLAN.exec(line) ? Number(PLAN.exec(line)![1]) : planned;
    const total = /^# (tests|pass|fail|cancelled|skipped|todo) +(\d+)$/.exec(line);
    if (total) told[total[1]!] = Number(total[2]);
    if (/^\s*Bail out!/.test(line)) troubles.push(line);
  }
  const points = seen.passed + seen.failed + seen.skipped + seen.todo;
  if (points === 0 || (points < 3 && planned === undefined && !/^TAP version/m.test(ran.stdout))) return undefined;
  const leaves = failures.filter((failure) => !failure.isRollUp);
  if (ran.exit_code !== 0 && leaves.length + troubles.length === 0) return undefined;
  const short = planned !== undefined && !ran.condensed && told["tests"] === undefined && points < planned;
  const summary =
    told["tests"] === undefined
      ? counts({ failed: leaves.length, passed: seen.passed, skipped: seen.skipped, todo: seen.todo })
      : summaryOf(told);
  return renderTests({
    summary: `${ran.condensed && told["tests"] === undefined ? "at least " : ""}${summary}${short ? `; planned ${planned}, ran ${points}` : ""}`,
    failures: leaves,
    troubles,
  });
};

function summaryOf(told: Readonly<Record<string, number>>): string {
  const { fail = 0, pass = 0, skipped = 0, todo = 0, cancelled = 0, tests } = told;
  return `${counts({ failed: fail, passed: pass, skipped, todo, cancelled })} of ${tests}`;
}

function readPoint(
  point: RegExpExecArray,
  lines: readonly string[],
  index: number,
  failures: Point[],
  seen: { passed: number; failed: number; skipped: number; todo: number },
): void {
  const [, space, verdict, number, rest] = point;
  const directive = /#\s*(skip|todo)\b/i.exec(rest!)?.[1]?.toLowerCase();
  if (directive === "skip") seen.skipped++;
  else if (directive === "todo") seen.todo++;
  else if (verdict === "ok") seen.passed++;
  else seen.failed++;
  if (verdict === "ok" || directive !== undefined) return;
  const indent = space!.length;
  const name = rest!.trim() || `test ${number ?? "?"}`;
  const failure: Point = { name, indent, message: [], isRollUp: false };
  readDiagnostic(failure, lines, index + 1);
  // A suite is told after its tests: it gives them its name.
  for (let at = failures.length - 1; at >= 0 && failures[at]!.indent > indent; at--) {
    const inner = failures[at]!;
    if (inner.isRollUp) continue;
    inner.name = `${name} > ${inner.name}`;
    failure.isRollUp = failure.message.every((line) => /\d+ subtests? failed/.test(line));
  }
  if (failure.isRollUp) {
    for (const inner of failures) if (inner.indent > indent) (inner as { indent: number }).indent = indent;
    return;
  }
  failures.push(failure);
}

/** What follows a failed point: a YAML block, comments, or plain lines, until the next point. */
function readDiagnostic(failure: Failure, lines: readonly string[], from: number): void {
  const loose: string[] = [];
  const wait: { key: string; lines: string[] }[] = [];
  let block: number | undefined;
  let into = failure.message;
  for (let index = from; index < lines.length && index < from + 40; index++) {
    const line = lines[index]!;
    const text = line.trim();
    if (text === "..." || POINT.test(line) || PLAN.test(text) || /^# (Subtest|tests \d)/.test(text)) break;
    const depth = line.length - line.trimStart().length;
    if (block !== undefined && (depth > block || text === "")) {
      if (into.length < 5 && text !== "" && !/^at /.test(text)) into.push(text);
      continue;
    }
    block = undefined;
    into = failure.message;
    const value = VALUE.exec(text);
    if (value) {
      const [, key, said] = value as unknown as [string, string, string];
      const isBlock = /^[|>][-+]?$/.test(said);
      if (isBlock) block = depth;
      into = [];
      wait.push({ key, lines: into });
      if (!isBlock) into.push(said);
      continue;
    }
    const says = SAYS.exec(text);
    const at = AT.exec(text);
    if (says && /^[|>][-+]?$/.test(says[1]!)) block = depth;
    else if (says) failure.message.push(unquoted(says[1]!));
    if (at) failure.place ??= shortPath(at[1]!);
    if (says || at || text === "" || NOISE.test(text)) continue;
    loose.push(text.replace(/^#\s*/, ""));
  }
  for (const { key, lines: said } of wait) {
    // The first line of a stack is the error; most often it is the test's name again.
    if (key === "stack" && (failure.message.length > 0 || (said[0] ?? "").endsWith(failure.name))) continue;
    failure.message.push(key === "stack" ? (said[0] ?? "") : `${key} ${said.join(" ")}`);
  }
  if (failure.message.length === 0) failure.message.push(...loose.slice(0, 4));
  failure.place ??= shortPath(INNER.exec(loose.slice(0, 8).join("\n"))?.[1] ?? "") || undefined;
}

function unquoted(text: string): string {
  return /^(['"]).*\1$/.test(text) ? text.slice(1, -1) : text;
}
