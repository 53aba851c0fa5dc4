import { cut, folderOf, linesOf, plural, tally } from "../lines.ts";
import type { Enrich } from "../types.ts";
import { isDefinition } from "./outline.ts";

interface Hit {
  readonly path: string;
  readonly line: string;
  readonly text: string;
  readonly rank: 0 | 1 | 2;
}

const NUMBERED = /^([^:\0]+):(\d+):(?:\d+:)?(.*)$/;
const UNNUMBERED = /^([^:\0\s]+):(.*)$/;
const TEST = /(^|\/)(tests?|spec|__tests__|fixtures|testdata)\/|[._-](test|spec)\.\w+$|(^|\/)test_[^/]*$/i;
const WIDTH = 160;
const TITLES = ["definitions", "code", "tests"] as const;

/** grep and rg: where it is defined, then code, then tests; counts by folder. */
export const grep: Enrich = ({ stdout, argv, lines: total, condensed }, room) => {
  const lines = linesOf(stdout);
  const hits = lines.map((line) => hitOf(line, argv)).filter((hit) => hit !== undefined);
  if (hits.length === 0 || hits.length < lines.length / 2) return undefined;
  const count = condensed ? total : hits.length;
  const files = new Set(hits.map(({ path }) => path)).size;
  const folders = tally(hits.map(({ path }) => folderOf(path)));
  const [hot] = folders;
  const head = `${plural(count, "match", "matches")} in ${condensed ? "at least " : ""}${plural(files, "file")}; most in ${folders
    .slice(0, 4)
    .map(([folder, matches]) => `${folder} (${matches})`)
    .join(", ")}${folders.length > 4 ? ` and ${plural(folders.length - 4, "more folder")}` : ""}`;
  const out = [head];
  let used = head.length;
  let shown = 0;
  for (const rank of [0, 1, 2] as const) {
    const group = hits.filter((hit) => hit.rank === rank);
    if (group.length === 0) continue;
    // Later groups get a word in too.
    const until = rank === 0 ? room * 0.4 : rank === 1 ? room * 0.85 : room;
    let path = "";
    const title = `${TITLES[rank]} (${group.length}):`;
    const block: string[] = [title];
    used += title.length + 1;
    for (const hit of sorted(group, hot?.[0])) {
      const line = ` ${hit.line === "" ? "" : `${hit.line}: `}${cut(hit.text.trim(), WIDTH)}`;
      const cost = line.length + 1 + (hit.path === path ? 0 : hit.path.length + 1);
      if (used + cost > until) break;
      if (hit.path !== path) block.push((path = hit.path));
      block.push(line);
      used += cost;
      shown++;
    }
    out.push(...block);
  }
  if (shown < count) out.push(`${shown} of ${count} shown`);
  return { text: out.join("\n"), match_count: count };
};

function hitOf(text: string, argv: readonly string[]): Hit | undefined {
  const match = NUMBERED.exec(text);
  if (match) return made(match[1]!, match[2]!, match[3]!);
  const plain = /^(-\w*[cl]\w*|--count|--files-with-matches|--files)$/;
  if (argv.some((word) => plain.test(word))) return undefined;
  const short = UNNUMBERED.exec(text);
  return short ? made(short[1]!, "", short[2]!) : undefined;
}

function made(path: string, line: string, text: string): Hit {
  return { path: path.replace(/^\.\//, ""), line, text, rank: TEST.test(path) ? 2 : isDefinition(text) ? 0 : 1 };
}

/** The folder with most hits first; within it as it came. */
function sorted(hits: readonly Hit[], hot: string | undefined): Hit[] {
  return [...hits.filter(({ path }) => folderOf(path) === hot), ...hits.filter(({ path }) => folderOf(path) !== hot)];
}
