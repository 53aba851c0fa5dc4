import { cut, fill, linesOf, plural } from "../lines.ts";
import type { Enrich } from "../types.ts";

/** A line that names something: function, class, type, heading, in the usual languages. */
const DEFINITION =
  /^\s*(?:(?:export|default|public|private|protected|internal|static|final|abstract|async|pub(?:\([^)]*\))?|unsafe|override|open|inline|extern|declare|readonly|virtual)\s+)*(?:function\*?|class|interface|type|enum|struct|trait|impl|namespace|module|def|fn|func|fun|sub|package|object|record|macro_rules!|(?:const|let|var|val)(?=\s+\w+\s*(?::[^=]+)?=\s*(?:async\s*)?(?:\([^)]*\)|\w+)\s*=>))\b[\s(*]+\w/;
const HEADING = /^#{1,4} \S/;
const SOURCE = /\.(ts|tsx|mts|cts|js|jsx|mjs|cjs|py|rs|go|java|kt|c|h|cc|cpp|hpp|cs|rb|php|swift|scala|sh|lua|zig)$/;
const PROSE = /\.(md|mdx|markdown)$/;

export function isDefinition(text: string): boolean {
  return DEFINITION.test(text);
}

/** cat, head and the like on one long source: what it defines, and at which line. */
export const outline: Enrich = ({ argv, stdout, exit_code }, room) => {
  const files = argv.slice(1).filter((word) => SOURCE.test(word) || PROSE.test(word));
  if (files.length !== 1 || exit_code !== 0) return undefined;
  const [file] = files as [string];
  const lines = linesOf(stdout);
  const offset = argv[0] === "tail" ? undefined : 1;
  const wanted = PROSE.test(file) ? HEADING : DEFINITION;
  const named = lines.flatMap((line, index) =>
    wanted.test(line) ? [`${offset === undefined ? "" : `${index + offset}: `}${cut(line.trimEnd(), 140)}`] : [],
  );
  if (named.length < 3) return undefined;
  const beginning = fill(
    lines.slice(0, 30).map((line) => cut(line, 160)),
    room * 0.25,
    () => "[…]",
  );
  const head = `${file}: ${plural(lines.length, "line")}. Its beginning:`;
  const list = fill(named, room * 0.7 - head.length, (left) => `and ${left} more`);
  return { text: `${head}\n${beginning}\nIts outline (read a part with linux_fs_read):\n${list}` };
};
