import type { Ran } from "./types.ts";

/** A line that looks like trouble. */
export const TROUBLE =
  /\b(error|errors|fail|fails|failed|failure|fatal|panic|panicked|exception|traceback|denied|refused|undefined|unresolved|cannot|can't|not found|no such|segmentation|aborted|killed|timed out|timeout|unable)\b|[a-z](Error|Exception)\b|^E {2,}|^\s*(not ok|✖|✗|×|✕|●)|\bERR[!_]/i;

export function linesOf(text: string): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

/** Not longer than this, and says so where it is cut. */
export function cut(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, Math.max(1, max - 1)).trimEnd()}…`;
}

const ESCAPES = /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\^_])/g;

/** Without colours, and of a line that was written over itself only its last state. */
export function plainText(text: string): string {
  const bare = text.includes("\x1b") ? text.replace(ESCAPES, "") : text;
  if (!bare.includes("\r")) return bare;
  return bare.replaceAll("\r\n", "\n").replace(/^[^\n]*\r(?=[^\n\r])/gm, "");
}

/** Runners write to either stream; a report is read from both. */
export function bothStreams({ stdout, stderr }: Ran): string {
  if (stderr === "") return stdout;
  return stdout === "" || stdout.endsWith("\n") ? stdout + stderr : `${stdout}\n${stderr}`;
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** How often each comes, most first. */
export function tally(keys: Iterable<string>): [string, number][] {
  const counts = new Map<string, number>();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  return [...counts].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));
}

export function folderOf(path: string): string {
  const slash = path.lastIndexOf("/");
  return slash <= 0 ? "." : path.slice(0, slash).replace(/^\.\//, "");
}

/** Lines one under the other until the room is used; says how many did not fit. */
export function fill(lines: readonly string[], room: number, more: (left: number) => string): string {
  const kept: string[] = [];
  let used = 0;
  for (const [index, line] of lines.entries()) {
    if (used + line.length + 1 > room) return [...kept, more(lines.length - index)].join("\n");
    kept.push(line);
    used += line.length + 1;
  }
  return kept.join("\n");
}
