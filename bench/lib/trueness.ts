import { edgeOf, isResolved } from "../../src/engines/rag/graph/edges.ts";
import { createResolver } from "../../src/engines/rag/graph/resolve.ts";
import type { Place } from "../../src/engines/rag/graph/store.ts";
import { openView } from "../../src/engines/rag/graph/view.ts";
import { indexed } from "./indexed.ts";
import { oracleUses } from "./ts-oracle.ts";

interface Tally {
  /** Edges that the graph is sure of, and those of them that the oracle confirms. */
  resolved: number;
  right: number;
  /** Uses that the oracle knows, those that the graph has at all, and those that it is sure of. */
  wanted: number;
  found: number;
  sure: number;
}

/** Precision of resolved edges and recall of all, by kind of use, as a table. */
export async function trueness(root: string): Promise<string> {
  const db = await indexed(root);
  const view = openView(db);
  const resolver = createResolver(view);
  const rows = db.all<{ path: string }>("SELECT path FROM files WHERE language IN ('typescript', 'tsx')");
  const paths = rows.map(({ path }) => path);
  const places = new Map<string, { name: string; place: Place }>();
  for (const path of paths)
    for (const use of view.usesIn(view.fileAt(path)!)) places.set(`${path}:${use.place[0]}:${use.place[1]}`, use);
  const tallies = new Map<string, Tally>();
  let unjudged = 0;
  for (const use of oracleUses(root, paths)) {
    const mine = places.get(`${use.path}:${use.line}:${use.column}`);
    const edge = mine && edgeOf(view, resolver, view.fileAt(use.path)!, mine.name, mine.place);
    const isHit = edge?.defs.some((def) => use.targets.has(`${def.file.path}:${def.line}`)) === true;
    const isSure = edge !== undefined && edge.defs.length > 0 && isResolved(edge);
    if (isSure && !use.isKnown) unjudged++;
    for (const kind of [use.kind, "all"]) {
      const tally = tallies.get(kind) ?? { resolved: 0, right: 0, wanted: 0, found: 0, sure: 0 };
      tallies.set(kind, tally);
      if (isSure && use.isKnown) {
        tally.resolved++;
        if (isHit) tally.right++;
      }
      if (use.targets.size === 0) continue;
      tally.wanted++;
      if (isHit) tally.found++;
      if (isHit && isSure) tally.sure++;
    }
  }
  db.close();
  const share = (part: number, whole: number) => (whole === 0 ? "" : (part / whole).toFixed(3));
  const lines = [...tallies].map(
    ([kind, one]) =>
      `| ${kind} | ${one.wanted} | ${share(one.right, one.resolved)} | ${share(one.found, one.wanted)} | ${share(one.sure, one.wanted)} |`,
  );
  return [
    "| kind | uses | precision of resolved | recall with ambiguous | recall of resolved |",
    "|---|---:|---:|---:|---:|",
    ...lines,
    "",
    `${paths.length} files. Of ${unjudged} resolved edges the oracle cannot tell: the receiver is \`any\`, or a package is not installed.`,
  ].join("\n");
}
