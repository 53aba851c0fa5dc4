import type { Db } from "../../../base/db.ts";
import { KINDS } from "../kind.ts";
import { PER_FILE } from "../schema.ts";
import type { DefRow } from "./definition.ts";
import { lineage, type Step } from "./lineage.ts";
import type { Scene } from "./scene.ts";
import { keyOf } from "./symbol.ts";

const TEST_HOPS = 3;

/** Who uses a definition outside of tests, one step for each user. */
export function callersOf({ view, resolver }: Scene, defs: readonly DefRow[], depth = 1): Step[] {
  const own = new Set(defs.map(keyOf));
  const up = lineage(view, resolver, defs, "upstream", depth);
  const isOutside = (step: Step) => view.fileAt(step.path)?.kind !== "test" && !(step.def && own.has(keyOf(step.def)));
  return distinct(up.filter((step) => step.kind !== "import" && isOutside(step)));
}

export function calleesOf({ view, resolver }: Scene, defs: readonly DefRow[], depth = 1): Step[] {
  return distinct(lineage(view, resolver, defs, "downstream", depth).filter((step) => step.kind !== "import"));
}

/** Places in tests from which a definition is reached. */
export function testsOf({ view, resolver }: Scene, defs: readonly DefRow[]): Step[] {
  const up = lineage(view, resolver, defs, "upstream", TEST_HOPS);
  const kindAt = (path: string) => view.fileAt(path)?.kind;
  const found = up.filter((step) => kindAt(step.path) === "test" && step.kind !== "import");
  return distinct(found.length > 0 ? found : up.filter((step) => kindAt(step.path) === "test"));
}

/** One step for each symbol or, at the top of files, each file: the surest. */
function distinct(steps: readonly Step[]): Step[] {
  const seen = new Map<string, Step>();
  for (const step of steps) {
    const key = step.def ? keyOf(step.def) : step.path;
    const known = seen.get(key);
    if (!known || (known.kind !== "call" && step.kind === "call" && step.confidence >= known.confidence))
      seen.set(key, step);
  }
  return [...seen.values()];
}

const DOCS = KINDS.indexOf("docs");

/** Sections of documents that mention a name: `docs/math.md#L3-L9`. */
export function docsOf(
  db: Db,
  { splitter, shown }: Pick<Scene, "splitter" | "shown">,
  name: string,
  limit: number,
): string[] {
  const term = splitter.word(name).at(-1);
  if (term === undefined) return [];
  const rows = db.all<{ path: string; first: number; last: number }>(
    `SELECT f.path AS path, c.first AS first, c.last AS last FROM terms t JOIN chunks c ON c.id = t.rowid JOIN files f ON f.id = t.rowid / ${PER_FILE}
     WHERE terms MATCH ? AND f.kind = ? ORDER BY bm25(terms) LIMIT ?`,
    `"${term}"`,
    DOCS,
    limit,
  );
  return rows.map(({ path, first, last }) => `${shown(path)}#L${first}-L${last}`);
}
