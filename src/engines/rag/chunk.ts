import { type Definition, definitionsOf } from "./definitions.ts";
import { factsOf } from "./graph/extract.ts";
import { specOf } from "./graph/languages/index.ts";
import type { FileFacts } from "./graph/types.ts";
import { headingsOf } from "./headings.ts";
import { type Language, languageOf } from "./languages.ts";
import type { Parser } from "./parse.ts";

/** A part of a file, by lines counted from 0, `end` not included. The chunks of a file are the file. */
export interface Chunk {
  readonly start: number;
  readonly end: number;
  /** What it is a part of, outermost first: `Router.match`. Empty at the top of a file. */
  readonly symbol: string;
  /** Names that are defined here. */
  readonly names: readonly string[];
}

/** A function is kept whole up to this; pieces of a longer one are this long. */
const MAX_LINES = 80;
/** Neighbours are put together while they stay below this. */
const SMALL_LINES = 12;
const LINE_RULE = 50;

export interface Chunked {
  readonly chunks: readonly Chunk[];
  readonly language: string;
  readonly symbols: number;
  /** What the code graph takes from it; nothing where the language is not known to it. */
  readonly graph: FileFacts | undefined;
}

export async function chunkFile(
  path: string,
  text: string,
  lines: readonly string[],
  parser: Parser,
): Promise<Chunked> {
  const language = languageOf(path);
  const { definitions, graph } = await read(text, lines, language, parser);
  const pieces = definitions.length > 0 ? cut(definitions, 0, lines.length, "") : [whole(lines.length)];
  const sized = pieces.flatMap((piece) => slices(piece, lines, definitions.length > 0 ? MAX_LINES : LINE_RULE));
  return { chunks: joined(sized), language: language.name, symbols: count(definitions), graph };
}

interface Read {
  readonly definitions: readonly Definition[];
  readonly graph: FileFacts | undefined;
}

/** One parse, for the chunks and for the graph. */
async function read(text: string, lines: readonly string[], language: Language, parser: Parser): Promise<Read> {
  if (language.name === "markdown" || language.name === "restructuredtext")
    return { definitions: headingsOf(lines, language.name), graph: undefined };
  const tree = await parser.parse(text, language);
  if (!tree) return { definitions: [], graph: undefined };
  try {
    const spec = specOf(language.name);
    return { definitions: definitionsOf(tree, language), graph: spec && factsOf(tree, text, spec) };
  } finally {
    tree.delete();
  }
}

function whole(end: number): Chunk {
  return { start: 0, end, symbol: "", names: [] };
}

/** Cuts a range at its definitions. A long one with definitions inside is opened; what stands between is a piece too. */
function cut(definitions: readonly Definition[], start: number, end: number, symbol: string): Chunk[] {
  const pieces: Chunk[] = [];
  let at = start;
  for (const definition of definitions) {
    const first = Math.max(definition.first, at);
    const last = Math.min(definition.last + 1, end);
    // Two on one line: the line belongs to the first, and it names both.
    if (last <= first) {
      const before = pieces.at(-1);
      if (before) pieces[pieces.length - 1] = { ...before, names: [...before.names, definition.name] };
      continue;
    }
    if (first > at) pieces.push({ start: at, end: first, symbol, names: [] });
    const full = symbol === "" ? definition.name : `${symbol}.${definition.name}`;
    pieces.push(...opened(definition, first, last, full));
    at = last;
  }
  if (at < end) pieces.push({ start: at, end, symbol, names: [] });
  return pieces;
}

function opened(definition: Definition, start: number, end: number, symbol: string): Chunk[] {
  const { name, inner } = definition;
  if (end - start <= SMALL_LINES * 2 || inner.length === 0) {
    return [{ start, end, symbol, names: [name, ...allNames(inner)] }];
  }
  const [head, ...rest] = cut(inner, start, end, symbol);
  return [
    { ...head!, symbol: head!.names.length === 0 ? symbol : head!.symbol, names: [name, ...head!.names] },
    ...rest,
  ];
}

function allNames(definitions: readonly Definition[]): string[] {
  return definitions.flatMap((one) => [one.name, ...allNames(one.inner)]);
}

function count(definitions: readonly Definition[]): number {
  return definitions.reduce((sum, one) => sum + 1 + count(one.inner), 0);
}

/** A piece that is too long, cut at blank lines where there are any near. */
function slices(piece: Chunk, lines: readonly string[], size: number): Chunk[] {
  const parts: Chunk[] = [];
  let start = piece.start;
  while (piece.end - start > size * 1.3) {
    let at = start + size;
    for (let back = at; back > start + size / 2; back--)
      if (lines[back - 1]!.trim() === "") {
        at = back;
        break;
      }
    parts.push({ ...piece, start, end: at, names: start === piece.start ? piece.names : [] });
    start = at;
  }
  parts.push({ ...piece, start, names: start === piece.start ? piece.names : [] });
  return parts;
}

/** Small neighbours under the same roof are one chunk: a constant alone says little. */
function joined(pieces: readonly Chunk[]): Chunk[] {
  const all: Chunk[] = [];
  for (const piece of pieces) {
    const before = all.at(-1);
    const canJoin =
      before &&
      piece.end - before.start <= SMALL_LINES * 2 &&
      (before.end - before.start < SMALL_LINES || piece.end - piece.start < SMALL_LINES) &&
      (piece.end - before.start <= SMALL_LINES || piece.names.length === 0 || before.names.length === 0) &&
      parent(before.symbol) === parent(piece.symbol);
    if (canJoin)
      all[all.length - 1] = {
        start: before.start,
        end: piece.end,
        symbol: before.names.length > 0 ? before.symbol : piece.symbol,
        names: [...before.names, ...piece.names],
      };
    else all.push(piece);
  }
  return all;
}

function parent(symbol: string): string {
  return symbol.slice(0, Math.max(0, symbol.lastIndexOf(".")));
}
