import type { Db } from "../../base/db.ts";
import { fact } from "./facts.ts";
import type { Stats } from "./types.ts";

/** Share of the tree's files that were looked at. */
export function coverageOf(db: Db): number {
  const total = Number(fact(db, "total") ?? 0);
  const known = db.get<{ n: number }>("SELECT count(*) AS n FROM files")!.n;
  if (fact(db, "phase") === "ready") return 1;
  return total === 0 ? 0 : Math.floor(Math.min(1, known / total) * 100) / 100;
}

export function statsOf(db: Db, now: { watching: boolean; isBehind: boolean; maker: string | undefined }): Stats {
  const sums = db.get<{ files: number; chunks: number; symbols: number }>(
    "SELECT count(*) AS files, coalesce(sum(chunks), 0) AS chunks, coalesce(sum(symbols), 0) AS symbols FROM files WHERE skipped IS NULL",
  )!;
  const coverage = coverageOf(db);
  return {
    phase: coverage === 1 ? "ready" : fact(db, "phase") === undefined ? "empty" : "indexing",
    ...sums,
    vectors: db.get<{ n: number }>("SELECT count(*) AS n FROM vectors WHERE maker = ?", now.maker ?? "")!.n,
    languages: counted(
      db,
      "SELECT language AS name, count(*) AS n FROM files WHERE skipped IS NULL GROUP BY 1 ORDER BY 2 DESC",
    ),
    skipped: counted(db, "SELECT skipped AS name, count(*) AS n FROM files WHERE skipped IS NOT NULL GROUP BY 1"),
    coverage,
    stale: now.isBehind || coverage < 1,
    watching: now.watching,
    head: fact(db, "head") ?? null,
    synced_at: fact(db, "synced_at") ?? null,
    last_error: fact(db, "last_error") ?? null,
  };
}

function counted(db: Db, sql: string): Record<string, number> {
  return Object.fromEntries(db.all<{ name: string; n: number }>(sql).map(({ name, n }) => [name, n]));
}
