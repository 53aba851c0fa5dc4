import type { Definition } from "./definitions.ts";

interface Heading {
  readonly line: number;
  readonly level: number;
  readonly title: string;
}

/** Sections of a document, nested by the level of their headings. Fenced code holds none. */
export function headingsOf(lines: readonly string[], language: string): readonly Definition[] {
  const found = language === "markdown" ? markdown(lines) : underlined(lines);
  return nest(found, 0, found.length, lines.length - 1);
}

function nest(all: readonly Heading[], from: number, to: number, last: number): Definition[] {
  const sections: Definition[] = [];
  for (let index = from; index < to; ) {
    const heading = all[index]!;
    let next = index + 1;
    while (next < to && all[next]!.level > heading.level) next++;
    const end = next < to ? all[next]!.line - 1 : last;
    sections.push({
      name: heading.title,
      type: "heading",
      first: heading.line,
      last: end,
      inner: nest(all, index + 1, next, end),
    });
    index = next;
  }
  return sections;
}

function markdown(lines: readonly string[]): Heading[] {
  const found: Heading[] = [];
  let fence: string | undefined;
  for (const [line, text] of lines.entries()) {
    const mark = /^ {0,3}(```+|~~~+)/.exec(text)?.[1];
    if (mark !== undefined && (fence === undefined || mark.startsWith(fence)))
      fence = fence === undefined ? mark : undefined;
    if (fence !== undefined) continue;
    const heading = /^ {0,3}(#{1,6})\s+(.*)$/.exec(text.slice(0, 300));
    if (heading) found.push({ line, level: heading[1]!.length, title: clean(heading[2]!) });
  }
  return found;
}

/** reStructuredText: the level of an underline is the order in which its sign first appears. */
function underlined(lines: readonly string[]): Heading[] {
  const found: Heading[] = [];
  const signs: string[] = [];
  for (let line = 1; line < lines.length; line++) {
    const under = lines[line]!.trimEnd();
    const title = lines[line - 1]!.trimEnd();
    if (under.length < 3 || title.length === 0 || /^\s/.test(title) || under.length < title.length * 0.8) continue;
    const sign = under[0]!;
    if (!"=-~^\"'#*+:.".includes(sign) || under !== sign.repeat(under.length) || title[0] === sign) continue;
    if (!signs.includes(sign)) signs.push(sign);
    found.push({ line: line - 1, level: signs.indexOf(sign), title: clean(title) });
  }
  return found;
}

function clean(title: string): string {
  return (
    title
      .replace(/[`*_#]+/g, " ")
      .replace(/\s+/g, " ")
      .trim()
      .slice(0, 120) || "section"
  );
}
