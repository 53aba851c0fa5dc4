import { bothStreams, linesOf } from "../lines.ts";
import type { Enrich } from "../types.ts";
import { counts, type Failure, failureList, renderTests } from "./report.ts";

const MARK = /^\s*✖ (.+?)(?: \(\d+(?:\.\d+)?ms\))?(?: #.*)?$/;

/** The `spec` reporter of node:test: a tree, totals, then what failed and why. */
export const nodeTest: Enrich = (ran) => {
  const lines = linesOf(bothStreams(ran));
  const total = (name: string) => {
    const line = lines.findLast((text) => text.startsWith(`ℹ ${name} `));
    return line === undefined ? undefined : Number(line.slice(name.length + 3));
  };
  const tests = total("tests");
  if (tests === undefined) return undefined;
  const report = lines.findIndex((line) => /^✖ failing tests:$/.test(line));
  const tree = report < 0 ? lines : lines.slice(0, report);
  const found = failureList();
  if (report >= 0) readReport(lines.slice(report + 1), found.all);
  const suites = new Set(tree.map((line) => /^\s*▶ (.+)$/.exec(line)?.[1]).filter((name) => name !== undefined));
  for (const line of tree) {
    const name = MARK.exec(line)?.[1];
    if (name === undefined || suites.has(name)) continue;
    found.merge({ name, message: [] }, (known) => known.name === name);
  }
  if (ran.exit_code !== 0 && found.all.length === 0) return undefined;
  const summary = counts({
    failed: total("fail") ?? 0,
    passed: total("pass") ?? 0,
    skipped: total("skipped") ?? 0,
    todo: total("todo") ?? 0,
    cancelled: total("cancelled") ?? 0,
  });
  return renderTests({ summary: `${summary} of ${tests}`, failures: found.all });
};

function readReport(lines: readonly string[], failures: Failure[]): void {
  let place: string | undefined;
  let current: Failure | undefined;
  let open = false;
  for (const line of lines) {
    const at = /^test at (.+:\d+):\d+$/.exec(line);
    const name = MARK.exec(line)?.[1];
    if (at) {
      place = at[1];
      current = undefined;
    } else if (name !== undefined && !line.startsWith(" ")) {
      current = { name, place, message: [] };
      failures.push(current);
      open = true;
    } else if (/^\s+at |^\s+(generatedMessage|code):/.test(line)) open = false;
    else if (current && open && current.message.length < 5 && line.trim() !== "") current.message.push(line);
  }
}
