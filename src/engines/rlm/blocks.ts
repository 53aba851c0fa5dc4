import type { CellLanguage } from "./repl.ts";

export interface Block {
  readonly language: CellLanguage;
  readonly code: string;
}

const LANGUAGES: Readonly<Record<string, CellLanguage>> = {
  javascript: "javascript",
  js: "javascript",
  python: "python",
  py: "python",
};

/** The code in a reply, in order. A fence ends at the next line with the same fence and nothing else; a last one may stay open. */
export function codeBlocks(reply: string): Block[] {
  const blocks: Block[] = [];
  let open: { fence: string; language: CellLanguage | undefined; lines: string[] } | undefined;
  const close = () => {
    if (open?.language && open.lines.some((line) => line.trim() !== ""))
      blocks.push({ language: open.language, code: open.lines.join("\n") });
    open = undefined;
  };
  for (const line of reply.split(/\r?\n/)) {
    const mark = /^\s*(`{3,}|~{3,})\s*([\w+-]*)[^`]*$/.exec(line);
    if (!open) {
      if (mark) open = { fence: mark[1]!, language: LANGUAGES[mark[2]!.toLowerCase()], lines: [] };
    } else if (mark && mark[2] === "" && mark[1]!.startsWith(open.fence)) close();
    else open.lines.push(line);
  }
  close();
  return blocks;
}
