import type { Db } from "../../../base/db.ts";
import { KINDS } from "../kind.ts";
import type { Scope } from "../options.ts";
import type { Ranked, Ranking } from "../rank.ts";
import { PER_FILE } from "../schema.ts";
import { priorOf, WEIGHTS } from "../weights.ts";

interface Near {
  readonly chunk: number;
  readonly likeness: number;
}

/** Reciprocal ranks: a place near the top of either order counts, however the two measure. */
const DAMPING = 60;

/** The order by words, moved a little by the order by likeness. */
export function fuse(db: Db, ranking: Ranking, near: readonly Near[], scope: Scope, weight: number): Ranking {
  const alike = byFile(db, near, scope, ranking);
  if (alike.length === 0 || weight === 0) return ranking;
  const scores = new Map<number, { file: Ranked; score: number }>();
  for (const [place, file] of ranking.files.entries())
    scores.set(file.file, { file, score: 1 / (DAMPING + place + 1) });
  for (const [place, file] of alike.entries()) {
    const known = scores.get(file.file);
    const share = weight / (DAMPING + place + 1);
    if (known) known.score += share;
    else scores.set(file.file, { file, score: share });
  }
  // In the measure of the words, so that a score means the same with and without vectors.
  const scale = (ranking.files[0]?.score ?? 10) * (DAMPING + 1);
  const files = [...scores.values()]
    .sort((a, b) => b.score - a.score)
    .map(({ file, score }) => ({ ...file, score: score * scale }));
  return { ...ranking, files };
}

function byFile(db: Db, near: readonly Near[], scope: Scope, ranking: Ranking): Ranked[] {
  const files = new Map<number, Near[]>();
  for (const one of near) {
    const file = Math.floor(one.chunk / PER_FILE);
    files.set(file, [...(files.get(file) ?? []), one]);
  }
  const found: Ranked[] = [];
  for (const [file, list] of files) {
    const row = db.get<{ path: string; hash: string; kind: number }>(
      "SELECT path, hash, kind FROM files WHERE id = ?",
      file,
    );
    if (!row) continue;
    const kind = KINDS[row.kind]!;
    const prior = priorOf(WEIGHTS, kind, scope, ranking.query.kinds);
    const chunks = list.map(({ chunk, likeness }) => ({ id: chunk, score: Math.max(likeness, 0.01) }));
    const score = list[0]!.likeness * prior;
    if (prior > 0) found.push({ file, path: row.path, hash: row.hash, kind, score, chunks, terms: [] });
  }
  return found.sort((a, b) => b.score - a.score);
}
