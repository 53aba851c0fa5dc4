import { Fault } from "../../../base/fault.ts";
import { type GraphItem, itemOf } from "./answers.ts";
import type { DefRow, FileInfo } from "./definition.ts";
import { describe } from "./describe.ts";
import type { Step } from "./lineage.ts";
import { calleesOf, callersOf, docsOf, testsOf } from "./neighbours.ts";
import type { Scene } from "./scene.ts";
import { findSymbol } from "./symbol.ts";

export interface Commit {
  readonly hash: string;
  readonly date: string;
  readonly author: string;
  readonly subject: string;
}

export interface Inspection {
  readonly path: string;
  /** One line for each definition of the file: `method Router.match L3-L9`. */
  readonly outline: readonly string[];
  readonly definition: {
    readonly symbol: string;
    readonly kind: string;
    readonly line: number;
    readonly last: number;
    readonly signature: string;
    readonly doc: string;
    readonly source?: string;
  } | null;
  readonly callers: readonly GraphItem[];
  readonly callees: readonly GraphItem[];
  readonly tests: readonly string[];
  readonly docs: readonly string[];
  readonly last_commit: Commit | null;
  readonly note?: string;
}

export interface InspectRequest {
  readonly path?: string | undefined;
  readonly symbol?: string | undefined;
  readonly include_full_source: boolean;
  readonly max_neighbors: number;
}

/** What an inspection costs a model at most, unless the whole source is asked for. */
const MAX_TOKENS = 720;
const MAX_OUTLINE = 200;
const MAX_SOURCE_LINES = 2_000;

export async function inspect(
  scene: Scene,
  request: InspectRequest,
  lastCommit: (path: string) => Promise<Commit | undefined>,
  tokens: (text: string) => number,
): Promise<Inspection> {
  const { view, shown } = scene;
  const { file, defs, note } = subjectOf(scene, request);
  const [def] = request.symbol === undefined ? [] : defs;
  const lines = scene.lines(file.path) ?? [];
  const limit = request.max_neighbors;
  const asked = def ? defs.filter((one) => one.symbol === def.symbol && one.file.id === def.file.id) : topOf(defs);
  const items = (steps: readonly Step[]) => steps.slice(0, limit).map((step) => itemOf(step, shown));
  const outsiders = (steps: readonly Step[]) => (def ? steps : steps.filter((step) => step.path !== file.path));
  const source = request.include_full_source
    ? lines
        .slice(def ? def.line - 1 : 0, Math.min(def ? def.last : lines.length, (def?.line ?? 0) + MAX_SOURCE_LINES))
        .join("\n")
    : undefined;
  const outlined = def ? membersOf(view.defsOf(file), def) : view.defsOf(file);
  const outline = outlined.slice(0, MAX_OUTLINE).map((one) => `${one.kind} ${one.symbol} L${one.line}-L${one.last}`);
  const found: Inspection = {
    path: shown(file.path),
    outline: [...new Set(outline)],
    definition: definitionOf(def, lines, source) ?? (source === undefined ? null : wholeFile(file, lines, source)),
    callers: items(outsiders(callersOf(scene, asked))),
    callees: items(outsiders(calleesOf(scene, asked))),
    tests: testsOf(scene, asked)
      .slice(0, limit)
      .map((step) => `${shown(step.path)}:${step.line}`),
    docs: docsOf(scene.db, scene, def?.name ?? nameOf(file), limit),
    last_commit: (await lastCommit(file.path)) ?? null,
    ...(note === undefined ? {} : { note }),
  };
  return request.include_full_source ? found : fitted(found, tokens);
}

function subjectOf(
  scene: Scene,
  { path, symbol }: InspectRequest,
): { file: FileInfo; defs: readonly DefRow[]; note?: string } {
  const { view, shown } = scene;
  if (symbol !== undefined) {
    const { defs } = findSymbol(view, path === undefined ? symbol : `${path}:${symbol}`);
    const [first] = defs;
    if (!first)
      throw new Fault("file_not_found", `No definition of ${symbol.slice(0, 120)} is indexed.`, {
        hint: "rag_where_used finds words too; rag_search finds by meaning.",
      });
    const others = [
      ...new Set(
        defs
          .filter((one) => one.file.id !== first.file.id || one.symbol !== first.symbol)
          .map((one) => `${one.symbol} ${shown(one.file.path)}:${one.line}`),
      ),
    ];
    return {
      file: first.file,
      defs,
      ...(others.length > 0
        ? {
            note: `Also defined: ${others.slice(0, 3).join(", ")}${others.length > 3 ? `, and ${others.length - 3} more` : ""}.`,
          }
        : {}),
    };
  }
  const file = path === undefined ? undefined : view.fileAt(path.replace(/^\.\//, ""));
  if (!file)
    throw new Fault("file_not_found", `${(path ?? "").slice(0, 200)} is not in the index.`, {
      hint: "Give a path relative to the root, or a symbol.",
    });
  return { file, defs: view.defsOf(file) };
}

function topOf(defs: readonly DefRow[]): readonly DefRow[] {
  return defs.filter((one) => one.owner === "").slice(0, 30);
}

function membersOf(defs: readonly DefRow[], def: DefRow): readonly DefRow[] {
  return defs.filter((one) => one.owner === def.symbol);
}

function definitionOf(
  def: DefRow | undefined,
  lines: readonly string[],
  source: string | undefined,
): Inspection["definition"] {
  if (!def) return null;
  const { symbol, kind, line, last } = def;
  return { symbol, kind, line, last, ...describe(def, lines), ...(source === undefined ? {} : { source }) };
}

function wholeFile(file: FileInfo, lines: readonly string[], source: string): Inspection["definition"] {
  return { symbol: nameOf(file), kind: "file", line: 1, last: lines.length, signature: "", doc: "", source };
}

function nameOf({ path }: FileInfo): string {
  return path.slice(path.lastIndexOf("/") + 1).replace(/\.[^.]+$/, "");
}

/** Cut until it is cheap: first the outline, whose end says least, then the comment. */
function fitted(found: Inspection, tokens: (text: string) => number): Inspection {
  let outline = found.outline;
  let definition = found.definition;
  const now = () => ({ ...found, outline, definition });
  while (tokens(JSON.stringify(now())) > MAX_TOKENS && outline.length > 0) {
    const kept = Math.floor(outline.length * 0.7);
    const missing = found.outline.length - kept;
    outline = kept > 0 ? [...found.outline.slice(0, kept), `… ${missing} more`] : [];
    if (kept <= 1) outline = [];
  }
  if (tokens(JSON.stringify(now())) > MAX_TOKENS && definition)
    definition = { ...definition, doc: definition.doc.slice(0, 100), signature: definition.signature.slice(0, 150) };
  return now();
}
