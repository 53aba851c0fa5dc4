import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** Every page that people read. */
export const PAGES: readonly string[] = ["*.md", "docs/**/*.md"]
  .flatMap((glob) => globSync(glob, { cwd: ROOT }))
  .sort();

/** How a block is proved, as the comment before it says: nothing there means that it is run as it stands. */
export interface Block {
  readonly page: string;
  readonly line: number;
  readonly language: string;
  readonly text: string;
  readonly note: string | undefined;
}

const FENCE = /(?:<!-- ([^\n]*?) -->\n)?^([ \t]*)```(\w*)\n([\s\S]*?)^\2```/gm;

export function textOf(page: string): string {
  return readFileSync(join(ROOT, page), "utf8");
}

export function blocksOf(page: string): Block[] {
  const text = textOf(page);
  return [...text.matchAll(FENCE)].map((match) => ({
    page,
    line: text.slice(0, match.index).split("\n").length,
    language: match[3]!,
    text: match[4]!,
    note: match[1],
  }));
}

export const BLOCKS: readonly Block[] = PAGES.flatMap(blocksOf);
