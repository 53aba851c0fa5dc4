import { bothStreams, linesOf } from "../lines.ts";
import type { Enrich } from "../types.ts";
import { type Failure, failureList, renderTests, shortPath } from "./report.ts";

const BLOCK = /^ {2}● (.+)$/;
const RUN = /^ +[✕×] (.+?)(?: \(\d+(?:\.\d+)? m?s\))?$/;
const PLACE = /^ +at .*?\(?((?:\/|\.|\w)[^\s()]*?:\d+):\d+\)?$/;

export const jest: Enrich = (ran) => {
  const lines = linesOf(bothStreams(ran));
  const suites = lines.findLast((line) => /^Test Suites: /.test(line));
  if (suites === undefined) return undefined;
  const tests = lines.findLast((line) => /^Tests: /.test(line));
  const found = failureList();
  let file = "";
  const repeats: Failure[] = [];
  let current: Failure | undefined;
  for (const line of lines) {
    const suite = /^(FAIL|PASS) (\S+)/.exec(line);
    if (suite) {
      file = suite[1] === "FAIL" ? suite[2]! : "";
      if (file !== "" && !found.all.some(({ name }) => name.startsWith(file))) found.add({ name: file, message: [] });
      current = undefined;
      continue;
    }
    const block = BLOCK.exec(line);
    if (block && !/^Console$/.test(block[1]!)) {
      const name = `${file} ${block[1]}`;
      current = { name, message: [] };
      // A long run repeats its failures at its end.
      if (found.all.some((known) => known.name === name)) repeats.push(current);
      else found.add(current);
    } else if (/^\S/.test(line)) current = undefined;
    else if (current) note(current, line);
  }
  for (const repeat of repeats) {
    const known = found.all.find(({ name }) => name === repeat.name)!;
    if (repeat.place !== undefined && repeat.place !== known.place) repeat.message.push(`at ${repeat.place}`);
    found.merge(repeat, (other) => other === known);
  }
  for (const line of lines) {
    const name = RUN.exec(line)?.[1];
    if (name === undefined) continue;
    found.merge({ name, message: [] }, (known) => known.name.endsWith(` ${name}`));
  }
  const failures = found.all.filter(
    ({ name }) => name.includes(" ") || !found.all.some((other) => other.name.startsWith(`${name} `)),
  );
  if (ran.exit_code !== 0 && failures.length === 0) return undefined;
  const summary = [tests, suites].map((line) => line?.replace(/ {2,}/, " ")).filter((line) => line !== undefined);
  return renderTests({ summary: summary.join("; "), failures });
};

function note(failure: Failure, line: string): void {
  const place = PLACE.exec(line);
  if (place && !place[1]!.includes("node_modules")) failure.place ??= shortPath(place[1]!);
  if (place || /^ +>? *\d* *\|/.test(line) || failure.message.length >= 6) return;
  // Of a comparison only the lines that differ.
  const isDiff = failure.message.some((known) => /^ +- Expected +- \d/.test(known));
  if (line.trim() !== "" && (!isDiff || /^ +[-+] /.test(line))) failure.message.push(line);
}
