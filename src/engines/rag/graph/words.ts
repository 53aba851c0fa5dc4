import type { Db } from "../../../base/db.ts";
import { PER_FILE } from "../schema.ts";
import type { Splitter } from "../terms.ts";
import type { View } from "./view.ts";
import type { Found } from "./where-used.ts";

/** A place where the word stands is no reference; it is what is left when there is none. */
const WORD = 0.1;
const MAX_CHUNKS = 300;
const MAX_PLACES = 500;

/** Lines that hold a word as a whole: the last resort. */
export function whereWritten(
  db: Db,
  view: View,
  splitter: Splitter,
  name: string,
  read: (path: string) => readonly string[] | undefined,
): Found[] {
  const term = splitter.word(name).at(-1);
  if (term === undefined) return [];
  const chunks = db.all<{ id: number; first: number; last: number }>(
    "SELECT c.id AS id, c.first AS first, c.last AS last FROM terms t JOIN chunks c ON c.id = t.rowid WHERE terms MATCH ? LIMIT ?",
    `"${term}"`,
    MAX_CHUNKS,
  );
  const word = new RegExp(`(?<![\\w$])${name.replace(/[^\w]/g, "\\$&")}(?![\\w$])`);
  const found: Found[] = [];
  for (const { id, first, last } of chunks) {
    const file = view.file(Math.floor(id / PER_FILE));
    const lines = file && read(file.path);
    for (let line = first; lines && line <= last && found.length < MAX_PLACES; line++)
      if (word.test(lines[line - 1] ?? ""))
        found.push({ file, line, kind: "word", confidence: WORD, within: undefined });
  }
  return found.sort((a, b) => (a.file.path < b.file.path ? -1 : a.file.path > b.file.path ? 1 : a.line - b.line));
}
