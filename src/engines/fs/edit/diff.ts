import { countNewlines } from "../line-index.ts";
import type { Change } from "./apply.ts";

const CONTEXT = 1;
const MAX_LINES = 60;
const MAX_LINE_CHARS = 200;

/** A unified diff of the lines that the changes touch, short enough for a model to check at a glance. */
export function shortDiff(shown: string, before: Buffer, after: Buffer, changes: readonly Change[]): string {
  const hunks = hunksOf(before, after, changes);
  const out = [`--- ${shown}`, `+++ ${shown}`];
  // Line numbers are counted on from the hunk before; up to the first one both sides are the same.
  let seen = 0;
  let oldLine = 1;
  let shift = 0;
  let shownTo = 0;
  for (const [index, hunk] of hunks.entries()) {
    oldLine += countNewlines(before, seen, hunk.old_start);
    seen = hunk.old_start;
    const lines = render(before, after, hunk, { oldLine, newLine: oldLine + shift, from: shownTo });
    shownTo = ahead(before, hunk.old_end);
    shift += countNewlines(after, hunk.new_start, hunk.new_end) - countNewlines(before, hunk.old_start, hunk.old_end);
    if (index > 0 && out.length + lines.length > MAX_LINES) {
      out.push(`... ${hunks.length - index} more places`);
      break;
    }
    if (lines.length > MAX_LINES) lines.splice(MAX_LINES, lines.length, `... ${lines.length - MAX_LINES} more lines`);
    out.push(...lines);
  }
  return `${out.join("\n")}\n`;
}

type Hunk = Change;

/** Each change grown to whole lines; those in neighbouring lines become one. */
function hunksOf(before: Buffer, after: Buffer, changes: readonly Change[]): Hunk[] {
  const hunks: Hunk[] = [];
  for (let index = 0; index < changes.length; index++) {
    const first = changes[index]!;
    const lead = first.old_start - lineStart(before, first.old_start);
    let tail = tailOf(before, after, first);
    for (; reaches(before, changes[index]!.old_end + tail, changes[index + 1]); index++)
      tail = tailOf(before, after, changes[index + 1]!);
    const last = changes[index]!;
    hunks.push({
      old_start: first.old_start - lead,
      old_end: last.old_end + tail,
      new_start: first.new_start - lead,
      new_end: last.new_end + tail,
    });
  }
  return hunks;
}

/** How many bytes follow a change until both sides have come to the end of a line. They are the same bytes up to the next change. */
function tailOf(before: Buffer, after: Buffer, change: Change): number {
  const old = lineEnd(before, change.old_start, change.old_end) - change.old_end;
  const next = lineEnd(after, change.new_start, change.new_end) - change.new_end;
  return Math.max(old, next);
}

/** Whether no whole line lies between the end of a hunk and the next change. */
function reaches(before: Buffer, end: number, next: Change | undefined): boolean {
  return next !== undefined && lineStart(before, next.old_start) <= end;
}

interface Around {
  readonly oldLine: number;
  readonly newLine: number;
  /** Lines before this were shown with the hunk before. */
  readonly from: number;
}

function render(before: Buffer, after: Buffer, hunk: Hunk, { oldLine, newLine, from }: Around): string[] {
  const start = Math.max(from, back(before, hunk.old_start));
  const end = ahead(before, hunk.old_end);
  const lead = linesOf(before, start, hunk.old_start);
  const removed = linesOf(before, hunk.old_start, hunk.old_end);
  const added = linesOf(after, hunk.new_start, hunk.new_end);
  const tail = linesOf(before, hunk.old_end, end);
  let firstOld = oldLine;
  let firstNew = newLine;
  while (removed.length > 0 && removed[0] === added[0]) {
    lead.push(removed.shift()!);
    added.shift();
    firstOld++;
    firstNew++;
  }
  while (removed.length > 0 && removed.at(-1) === added.at(-1)) {
    tail.unshift(removed.pop()!);
    added.pop();
  }
  if (removed.length + added.length === 0) return [];
  lead.splice(0, lead.length - CONTEXT);
  tail.splice(CONTEXT);
  const around = lead.length + tail.length;
  const span = (first: number, count: number) => `${count === 0 ? first - 1 : first},${count}`;
  return [
    `@@ -${span(firstOld - lead.length, around + removed.length)} +${span(firstNew - lead.length, around + added.length)} @@`,
    ...lead.map((line) => ` ${line}`),
    ...removed.map((line) => `-${line}`),
    ...added.map((line) => `+${line}`),
    ...tail.map((line) => ` ${line}`),
  ];
}

function linesOf(bytes: Buffer, start: number, end: number): string[] {
  if (end <= start) return [];
  const text = bytes.toString("utf8", start, end);
  const isEnded = text.endsWith("\n");
  const lines = text.split("\n");
  if (isEnded) lines.pop();
  const cut = lines.map((line) => (line.length > MAX_LINE_CHARS ? `${line.slice(0, MAX_LINE_CHARS)}...` : line));
  if (!isEnded) cut[cut.length - 1] += "\n\\ No newline at end of file";
  return cut;
}

function back(bytes: Buffer, from: number): number {
  let at = from;
  for (let line = 0; line < CONTEXT && at > 0; line++) at = lineStart(bytes, at - 1);
  return at;
}

function ahead(bytes: Buffer, from: number): number {
  let at = from;
  for (let line = 0; line < CONTEXT && at < bytes.length; line++) {
    const newline = bytes.indexOf(10, at);
    at = newline < 0 ? bytes.length : newline + 1;
  }
  return at;
}

export function lineStart(bytes: Buffer, at: number): number {
  return at === 0 ? 0 : bytes.lastIndexOf(10, at - 1) + 1;
}

/** Behind the end of the last line that the stretch touches. */
function lineEnd(bytes: Buffer, start: number, end: number): number {
  if (end > start && bytes[end - 1] === 10) return end;
  const newline = bytes.indexOf(10, end);
  return newline < 0 ? bytes.length : newline + 1;
}
