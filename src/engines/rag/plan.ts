import type { Db } from "../../base/db.ts";
import type { DefRow, FileInfo } from "./graph/definition.ts";
import type { Scene } from "./graph/scene.ts";
import { stemOf } from "./graph/store.ts";
import { findSymbol } from "./graph/symbol.ts";
import type { Ranked, Ranking } from "./rank.ts";

/** What to read, in which order, and why. */
export interface Plan {
  readonly steps: readonly PlanStep[];
  /** What was asked of the index to find out. */
  readonly queries: readonly string[];
  readonly note?: string;
}

interface PlanStep {
  /** `path#L1-L9` */
  readonly read: string;
  readonly why: string;
  readonly confidence: number;
}

interface Clue {
  readonly file: FileInfo | undefined;
  readonly path: string;
  readonly chunk: number | undefined;
  score: number;
  readonly why: string[];
  def: DefRow | undefined;
}

const STEPS = { summary: 5, full: 12 } as const;
/** What a clue adds to the score by words, as a share of the best. */
const NAMED_PATH = 1;
const DEFINED = 0.35;
const LINKED = 0.04;
const MAX_NAMES = 12;
const MAX_WORDS = 3;
/** Files whose neighbours are looked at, and neighbours that are taken of each. */
const HUBS = 3;

/** Turns a task into names, paths and questions, asks the index for each, and weighs what they point at together. */
export function planOf(db: Db, scene: Scene, ranking: Ranking, query: string, detail: keyof typeof STEPS): Plan {
  const paths = pathsIn(query);
  const names = ranking.query.identifiers.slice(0, MAX_NAMES);
  const best = ranking.files[0]?.score ?? 1;
  const clues = new Map<string, Clue>();
  for (const file of ranking.files) clues.set(file.path, clueOf(scene, file, query));
  for (const path of paths)
    for (const file of scene.view
      .stems(stemOf(path))
      .filter((one) => one.path === path || one.path.endsWith(`/${path}`)))
      add(clues, file, best * NAMED_PATH, `the task names ${path}`);
  for (const name of names) {
    const { defs } = findSymbol(scene.view, name);
    const files = new Set(defs.map((one) => one.file.id));
    for (const def of defs.slice(0, 5)) {
      const clue = add(clues, def.file, (best * DEFINED) / Math.max(1, files.size), `defines ${def.symbol}`);
      clue.def ??= def;
    }
  }
  link(scene, [...clues.values()], best);
  const ordered = [...clues.values()].sort((a, b) => b.score - a.score || (a.path < b.path ? -1 : 1));
  const top = ordered[0]?.score || 1;
  return {
    steps: ordered.slice(0, STEPS[detail]).map((clue) => stepOf(db, scene, clue, top)),
    queries: [
      query.slice(0, 200),
      ...names.map((name) => `definition of ${name}`),
      ...paths.map((path) => `file ${path}`),
    ],
  };
}

/** A file that others near the top import, or that imports them, is a little more likely. */
function link(scene: Scene, clues: readonly Clue[], best: number): void {
  const { view } = scene;
  const hubs = [...clues].sort((a, b) => b.score - a.score).slice(0, HUBS);
  for (const hub of hubs) {
    if (!hub.file) continue;
    const stems = new Set(
      view.links(hub.file).imports.map(({ module }) =>
        module
          .split(/[/.:\\]/)
          .filter(Boolean)
          .at(-1),
      ),
    );
    for (const clue of clues)
      if (clue !== hub && stems.has(stemOf(clue.path)) && clue.file?.kind === "source") {
        clue.score += best * LINKED;
        if (clue.why.length < 3) clue.why.push(`${hub.path} uses it`);
      }
  }
}

function add(clues: Map<string, Clue>, file: FileInfo, score: number, why: string): Clue {
  let clue = clues.get(file.path);
  if (!clue)
    clues.set(file.path, (clue = { file, path: file.path, chunk: undefined, score: 0, why: [], def: undefined }));
  clue.score += score;
  clue.why.unshift(why);
  return clue;
}

function clueOf({ view }: Scene, { path, score, chunks, terms }: Ranked, query: string): Clue {
  const words = new Set(terms.slice(0, MAX_WORDS).map((term) => asAsked(term, query)));
  const why = words.size > 0 ? [`speaks of ${[...words].join(", ")}`] : [];
  return { file: view.fileAt(path), path, chunk: chunks[0]?.id, score, why, def: undefined };
}

/** The index knows words without their endings; whoever asked knows them with. */
function asAsked(term: string, query: string): string {
  const words = query.toLowerCase().split(/[^\p{L}\p{N}]+/u);
  return words.find((word) => word.startsWith(term) && word.length - term.length <= 3) ?? term;
}

function stepOf(db: Db, { shown }: Scene, clue: Clue, top: number): PlanStep {
  const row =
    clue.def === undefined && clue.chunk !== undefined
      ? db.get<{ first: number; last: number }>("SELECT first, last FROM chunks WHERE id = ?", clue.chunk)
      : undefined;
  const [first, last] = clue.def ? [clue.def.line, clue.def.last] : [row?.first ?? 1, row?.last ?? 1];
  const agreed = Math.min(1, 0.55 + 0.15 * clue.why.length);
  return {
    read: `${shown(clue.path)}#L${first}-L${last}`,
    // None of the words, no name, no path: then it was found by its vectors.
    why: clue.why.join("; ") || "is close in meaning",
    confidence: Math.round(Math.min(0.95, (clue.score / top) * agreed) * 100) / 100,
  };
}

function pathsIn(query: string): string[] {
  const found = query.match(/(?<![\w/.-])(?:[\w.-]+\/)*[\w-]+\.[A-Za-z]{1,5}(?![\w/])/g) ?? [];
  return [...new Set(found)].slice(0, MAX_NAMES);
}
