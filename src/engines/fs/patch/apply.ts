import { visible } from "../../../base/text.ts";
import { type ByteText, type Hunk, type HunkLine, textOf } from "./parse.ts";

export interface Rejection {
  /** From 1; 0 when it is the file as a whole. */
  readonly hunk: number;
  readonly reason: string;
}

export interface Patched {
  readonly content: ByteText;
  readonly rejected: Rejection[];
}

/** How far around the named line the best partial fit is sought, to say what differs. */
const EXPLAIN_LINES = 400;

/** Puts the hunks in, each where its old lines stand, the nearest place to where it says. Content without the refused ones. */
export function applyHunks(content: ByteText, hunks: readonly Hunk[]): Patched {
  const lines = linesOf(content);
  const out: string[] = [];
  const rejected: Rejection[] = [];
  let done = 0;
  let drift = 0;
  hunks.forEach((given, index) => {
    const found = locate(lines, given, done, drift) ?? locate(lines, asCrlf(lines, given), done, drift);
    if (!found) {
      rejected.push({ hunk: index + 1, reason: reasonFor(lines, given, done, drift) });
      return;
    }
    out.push(...lines.slice(done, found.at), ...found.next);
    done = found.at + found.old_count;
    drift = found.at - expected(found.hunk, 0);
  });
  out.push(...lines.slice(done));
  return { content: out.join(""), rejected };
}

interface Found {
  readonly hunk: Hunk;
  readonly at: number;
  readonly old_count: number;
  readonly next: string[];
}

function locate(lines: readonly string[], hunk: Hunk | undefined, from: number, drift: number): Found | undefined {
  if (!hunk) return undefined;
  const old = oldLines(hunk);
  const start = expected(hunk, drift);
  if (old.length === 0)
    return start >= from && start <= lines.length ? { hunk, at: start, old_count: 0, next: newLines(hunk) } : undefined;
  for (const isLoose of [false, true])
    for (const at of outwards(start, from, lines.length - old.length))
      if (fits(lines, old, at, isLoose))
        return { hunk, at, old_count: old.length, next: placed(lines, hunk, at, old.length, isLoose) };
  return undefined;
}

/** An insertion without context names the line it follows; other hunks name their first line. */
function expected(hunk: Hunk, drift: number): number {
  const start = hunk.old_start ?? 1;
  const isInsertion = hunk.lines.every((line) => line.op === "+");
  return Math.max(0, (isInsertion ? start : start - 1) + drift);
}

function* outwards(start: number, low: number, high: number): Generator<number> {
  const middle = Math.min(Math.max(start, low), high);
  if (high < low) return;
  yield middle;
  for (let step = 1; middle + step <= high || middle - step >= low; step++) {
    if (middle - step >= low) yield middle - step;
    if (middle + step <= high) yield middle + step;
  }
}

/** Loosely: the last line of the file may lack the newline that the patch shows. */
function fits(lines: readonly string[], old: readonly string[], at: number, isLoose: boolean): boolean {
  return old.every((text, index) => {
    const line = lines[at + index];
    return line === text || (isLoose && at + index === lines.length - 1 && `${line}\n` === text);
  });
}

/** The lines that stand there afterwards. Context stays as the file has it; an end without a newline stays one. */
function placed(lines: readonly string[], hunk: Hunk, at: number, old_count: number, isLoose: boolean): string[] {
  let index = at;
  const next: string[] = [];
  for (const line of hunk.lines) {
    if (line.op === "+") next.push(line.text);
    else {
      if (line.op === " ") next.push(lines[index]!);
      index++;
    }
  }
  const isEnd = at + old_count === lines.length;
  if (!isLoose || !isEnd || next.length === 0) return next;
  const unended = next.findIndex((text, position) => position < next.length - 1 && !text.endsWith("\n"));
  if (unended >= 0) next[unended] += "\n";
  next[next.length - 1] = next.at(-1)!.replace(/\n$/, "");
  return next;
}

/** A patch with bare newlines for a file of CRLF lines is meant for those. */
function asCrlf(lines: readonly string[], hunk: Hunk): Hunk | undefined {
  const isCrlf =
    lines.length > 0 &&
    lines.every((line, index) => line.endsWith("\r\n") || (index === lines.length - 1 && !line.endsWith("\n")));
  if (
    !isCrlf ||
    !hunk.lines.some((line) => line.text.endsWith("\n")) ||
    hunk.lines.some((line) => line.text.endsWith("\r\n"))
  )
    return undefined;
  const grown = (line: HunkLine) => ({ op: line.op, text: line.text.replace(/\n$/, "\r\n") });
  return { old_start: hunk.old_start, lines: hunk.lines.map(grown) };
}

function reasonFor(lines: readonly string[], hunk: Hunk, from: number, drift: number): string {
  const old = oldLines(hunk);
  const start = expected(hunk, drift);
  if (old.length === 0) return `line ${start} does not exist: the file has ${lines.length}`;
  const next = newLines(hunk);
  if (
    next.length > 0 &&
    [...outwards(start, from, lines.length - next.length)].some((at) => fits(lines, next, at, true))
  )
    return "it seems to be applied already";
  let best = { at: -1, count: 0 };
  for (let at = Math.max(from, start - EXPLAIN_LINES); at < Math.min(lines.length, start + EXPLAIN_LINES); at++) {
    const count = old.filter((text, index) => lines[at + index] === text).length;
    if (count > best.count) best = { at, count };
  }
  if (best.count === 0) return `none of its lines stand near line ${start + 1}`;
  const off = old.findIndex((text, index) => lines[best.at + index] !== text);
  const found = lines[best.at + off];
  if (found === undefined)
    return `the file ends at line ${lines.length}, but the patch expects ${quoted(old[off]!)} there`;
  const kind = squeezed(found) === squeezed(old[off]!) ? " (only whitespace differs)" : "";
  return `line ${best.at + off + 1} is ${quoted(found)}, but the patch expects ${quoted(old[off]!)}${kind}`;
}

function quoted(bytes: string): string {
  const text = visible(textOf(bytes.replace(/\n$/, "")));
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}...` : text);
}

function squeezed(text: string): string {
  return text.replace(/\s+/g, "");
}

function oldLines(hunk: Hunk): string[] {
  return hunk.lines.filter((line) => line.op !== "+").map((line) => line.text);
}

function newLines(hunk: Hunk): string[] {
  return hunk.lines.filter((line) => line.op !== "-").map((line) => line.text);
}

/** With their endings; joined they are the text. */
export function linesOf(text: string): string[] {
  const lines = text.split("\n");
  const last = lines.pop()!;
  const ended = lines.map((line) => `${line}\n`);
  if (last !== "") ended.push(last);
  return ended;
}
