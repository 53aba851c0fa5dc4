/** The thread that outlines one text. */
import { parentPort, workerData } from "node:worker_threads";
import { type Definition, definitionsOf } from "../definitions.ts";
import { headingsOf } from "../headings.ts";
import { type Language, languageNamed } from "../languages.ts";
import { createParser } from "../parse.ts";

export interface OutlineRequest {
  readonly text: string;
  /** A file name or a language. */
  readonly hint: string;
}

/** Lines count from 1, the last one included. */
export interface OutlineEntry {
  readonly name: string;
  readonly type: string;
  readonly line: number;
  readonly end_line: number;
}

export interface OutlineAnswer {
  readonly entries: readonly OutlineEntry[];
}

const MAX_ENTRIES = 2_000;

async function definitions(text: string, language: Language): Promise<readonly Definition[]> {
  if (language.grammar === undefined) return headingsOf(text.split("\n"), language.name);
  const tree = await createParser().parse(text, language);
  try {
    return tree ? definitionsOf(tree, language) : [];
  } finally {
    tree?.delete();
  }
}

/** From the outside in, as they stand in the file. */
function flat(found: readonly Definition[]): OutlineEntry[] {
  return found.flatMap(({ name, type, first, last, inner }) => [
    { name, type, line: first + 1, end_line: last + 1 },
    ...flat(inner),
  ]);
}

const { text, hint } = workerData as OutlineRequest;
const entries = flat(await definitions(text, languageNamed(hint))).slice(0, MAX_ENTRIES);
parentPort!.postMessage({ entries } satisfies OutlineAnswer);
