import { bothStreams, linesOf } from "../lines.ts";
import type { Enrich } from "../types.ts";
import { counts, type Failure, failureList, renderTests } from "./report.ts";

const RESULT =
  /^test result: (?:ok|FAILED)\. (\d+) passed; (\d+) failed; (\d+) ignored; \d+ measured; \d+ filtered out/;
const RUN = /^test (.+?) \.\.\. FAILED/;
const BLOCK = /^---- (.+?) stdout ----$/;
const PANIC = /panicked at (?:'(.*)', )?(\S+?:\d+)(?::\d+)?:?$/;

export const cargoTest: Enrich = (ran) => {
  const lines = linesOf(bothStreams(ran));
  const results = lines.map((line) => RESULT.exec(line)).filter((match) => match !== null);
  const runs = lines.filter((line) => RUN.test(line));
  if (results.length === 0 && runs.length === 0) return undefined;
  const found = failureList();
  readBlocks(lines, found.all);
  for (const line of runs) {
    const name = RUN.exec(line)![1]!;
    found.merge({ name, message: [] }, (known) => known.name === name);
  }
  for (const name of listed(lines)) found.merge({ name, message: [] }, (known) => known.name === name);
  const troubles = lines.filter((line) => /^error(\[E\d+\])?: (?!test failed)/.test(line));
  if (ran.exit_code !== 0 && found.all.length + troubles.length === 0) return undefined;
  const sum = (column: number) => results.reduce((total, match) => total + Number(match[column]), 0);
  return renderTests({
    summary: counts({ failed: sum(2), passed: sum(1), ignored: sum(3) }),
    failures: found.all,
    troubles,
  });
};

function readBlocks(lines: readonly string[], failures: Failure[]): void {
  let current: Failure | undefined;
  let open = false;
  for (const line of lines) {
    const block = BLOCK.exec(line);
    const panic = PANIC.exec(line);
    if (block) {
      current = { name: block[1]!, message: [] };
      failures.push(current);
      open = true;
    } else if (/^failures:$|^test result:/.test(line)) current = undefined;
    else if (!current) continue;
    else if (panic) {
      current.place ??= panic[2];
      if (panic[1] !== undefined) current.message.push(panic[1]);
      open = true;
    } else if (/^(stack backtrace:|note: )/.test(line)) open = false;
    else if (open && line.trim() !== "" && current.message.length < 6) current.message.push(line);
  }
}

/** The names under the last `failures:`. */
function listed(lines: readonly string[]): string[] {
  const names: string[] = [];
  let inside = false;
  for (const line of lines) {
    if (line === "failures:") inside = true;
    else if (inside && /^ {4}\S+$/.test(line)) names.push(line.trim());
    else if (/^(test result|----)/.test(line)) inside = false;
  }
  return names;
}
