import { cut, linesOf, TROUBLE } from "../lines.ts";
import type { Digest } from "../types.ts";

const LINE = 240;

/** Output of no known kind: how it begins, what in it looks like trouble, how it ends. */
export function plain(text: string, room: number, total?: number): Digest {
  const lines = linesOf(text);
  const width = Math.min(LINE, Math.max(80, Math.floor(room / 8)));
  const tail = take(lines.length - 1, -1, lines, room * 0.4, width);
  const head = take(0, 1, lines, room * 0.2, width).filter((index) => !tail.includes(index));
  const ends = new Set([...head, ...tail]);
  const between = trouble(lines, ends, room * 0.35, width);
  const shown = [...new Set([...ends, ...between.shown])].sort((a, b) => a - b);
  const out: string[] = [`${total ?? lines.length} lines; their beginning, trouble and end:`];
  let last = -1;
  for (const index of shown) {
    if (index > last + 1) out.push(`[… ${index - last - 1} lines]`);
    out.push(cut(lines[index]!, width));
    last = index;
  }
  if (between.more > 0) out.splice(1, 0, `(${between.more} more lines that look like trouble are not shown)`);
  return { text: out.join("\n") };
}

/** Lines that differ in their numbers only say one thing: a few of them are enough. */
const ALIKE = 4;
/** How far from an end it is looked for others. */
const FAR = 1000;

function take(from: number, step: 1 | -1, lines: readonly string[], room: number, width: number): number[] {
  const taken: number[] = [];
  const seen = new Map<string, number>();
  let used = 0;
  for (let index = from; index >= 0 && index < lines.length && Math.abs(index - from) < FAR; index += step) {
    const shape = lines[index]!.slice(0, width).replace(/\d+/g, "0");
    const alike = (seen.get(shape) ?? 0) + 1;
    seen.set(shape, alike);
    if (alike > ALIKE) continue;
    used += Math.min(lines[index]!.length, width) + 1;
    if (used > room && taken.length > 0) break;
    taken.push(index);
  }
  return taken;
}

function trouble(
  lines: readonly string[],
  ends: ReadonlySet<number>,
  room: number,
  width: number,
): { shown: number[]; more: number } {
  const shown: number[] = [];
  let used = 0;
  let more = 0;
  for (const [index, line] of lines.entries()) {
    if (ends.has(index) || shown.includes(index) || !TROUBLE.test(line.slice(0, 1000))) continue;
    const context = [index - 1, index, index + 1, index + 2].filter((at) => at >= 0 && at < lines.length);
    const cost = context.reduce((sum, at) => sum + Math.min(lines[at]!.length, width) + 1, 0);
    if (used + cost > room) {
      more++;
      continue;
    }
    used += cost;
    shown.push(...context);
  }
  return { shown, more };
}
