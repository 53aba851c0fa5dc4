import { PER_FILE } from "../schema.ts";
import type { DefRow } from "./definition.ts";
import type { Scene } from "./scene.ts";
import type { Named } from "./symbol.ts";
import { bySurety, type Found } from "./where-used.ts";

/** A place where the word stands is no reference; it is what is left when there is none. */
const WORD = 0.1;
const MAX_CHUNKS = 120;
const MAX_PLACES = 500;
const MAX_HOMES = 4;

/** Lines that hold a word as a whole: the last resort. */
export function whereWritten(
  { db, view, splitter, lines }: Pick<Scene, "db" | "view" | "splitter" | "lines">,
  { name, defs }: Named,
): { places: Found[]; isPart: boolean } {
  const term = splitter.word(name).at(-1);
  if (term === undefined) return { places: [], isPart: false };
  const chunks = db.all<Range>(
    "SELECT c.id AS id, c.first AS first, c.last AS last FROM terms t JOIN chunks c ON c.id = t.rowid WHERE terms MATCH ? LIMIT ?",
    ...[`"${term}"`, MAX_CHUNKS],
  );
  // Of a term that stands everywhere these are some; where the word is defined it stands for sure.
  const isPart = chunks.length === MAX_CHUNKS;
  if (isPart) chunks.push(...defs.slice(0, MAX_HOMES).map(rangeOf));
  const word = new RegExp(`(?<![\\w$])${name.replace(/[^\w]/g, "\\$&")}(?![\\w$])`);
  const found = new Map<string, Found>();
  for (const [id, ranges] of Map.groupBy(chunks, (one) => Math.floor(one.id / PER_FILE))) {
    const file = view.file(id);
    const text = file && lines(file.path, name);
    for (const { first, last } of text ? ranges : [])
      for (let line = first; line <= last && found.size < MAX_PLACES; line++)
        if (word.test(text![line - 1] ?? ""))
          found.set(`${id} ${line}`, { file: file!, line, kind: "word", confidence: WORD, within: -1 });
  }
  return { places: [...found.values()].sort(bySurety), isPart };
}

interface Range {
  readonly id: number;
  readonly first: number;
  readonly last: number;
}

function rangeOf({ file, line, last }: DefRow): Range {
  return { id: file.id * PER_FILE, first: line, last };
}
