import { countNewlines } from "../line-index.ts";
import type { Change } from "./apply.ts";

const CONTEXT = 1;
const MAX_LINES = 60;
const MAX_LINE_CHARS = 200;

/** A unified diff of the lines that the changes touch, short enough for a model to check at a glance. */
export function shortDiff(shown: string, before: Buffer, after: Buffer, changes: readonly Change[]): string {
  const hunks = hunksOf(before, after, changes);
  const out = [`--- ${shown}`, `+++ ${shown}`];
  for (const [index, hunk] of hunks.entries()) {
    const lines = render(before, after, hunk);
    if (index > 0 && out.length + lines.length > MAX_LINES) {
      out.push(`... ${hunks.length - index} more places`);
      break;
    }
    if (lines.length > MAX_LINES) lines.splice(MAX_LINES, lines.length, `... ${lines.length - MAX_LINES} more lines`);
    out.push(...lines);
  }
  return `${out.join("\n")}\n`;
}

interface Hunk {
  readonly old_start: number;
  old_end: number;
  readonly new_start: number;
  new_end: number;
}

/** Each change grown to whole lines; those that touch become one. */
function hunksOf(before: Buffer, after: Buffer, changes: readonly Change[]): Hunk[] {
  const hunks: Hunk[] = [];
  for (const change of changes) {
    const lead = change.old_start - lineStart(before, change.old_start);
    const tailOld = lineEnd(before, change.old_start, change.old_end);
    const tailNew = lineEnd(after, change.new_start, change.new_end);
    // Both sides grow by the same bytes at the end: what follows a change is the same in both.
    const tail = Math.max(tailOld - change.old_end, tailNew - change.new_end);
    const hunk = {
      old_start: change.old_start - lead,
      old_end: Math.min(before.length, change.old_end + tail),
      new_start: change.new_start - lead,
      new_end: Math.min(after.length, change.new_end + tail),
    };
    const last = hunks.at(-1);
    if (last && hunk.old_start <= last.old_end) {
      last.old_end = Math.max(last.old_end, hunk.old_end);
      last.new_end = Math.max(last.new_end, hunk.new_end);
    } else hunks.push(hunk);
  }
  return hunks;
}

function render(before: Buffer, after: Buffer, hunk: Hunk): string[] {
  const start = back(before, hunk.old_start);
  const end = ahead(before, hunk.old_end);
  const lead = linesOf(before, start, hunk.old_start);
  const removed = linesOf(before, hunk.old_start, hunk.old_end);
  const added = linesOf(after, hunk.new_start, hunk.new_end);
  const tail = linesOf(before, hunk.old_end, end);
  let firstOld = newlines(before, hunk.old_start) + 1;
  let firstNew = newlines(after, hunk.new_start) + 1;
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

export function newlines(bytes: Buffer, end: number): number {
  return countNewlines(bytes, 0, end);
}
