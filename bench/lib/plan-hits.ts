import { createResolver } from "../../src/engines/rag/graph/resolve.ts";
import type { Scene } from "../../src/engines/rag/graph/scene.ts";
import { openView } from "../../src/engines/rag/graph/view.ts";
import { planOf } from "../../src/engines/rag/plan.ts";
import { rank } from "../../src/engines/rag/rank.ts";
import { WEIGHTS } from "../../src/engines/rag/weights.ts";
import { type History, nameOfSet, openHistory, readCases } from "./history.ts";

const FIRST = 5;

/** How often a file that a commit changed is among the first five: of the plan, and of the search alone. */
export async function planHits(sets: readonly (readonly [dir: string, set: string])[]): Promise<string> {
  const lines: string[] = ["| set | commits | rag_plan | rag_search |", "|---|---:|---:|---:|"];
  const [all, sums] = [{ n: 0 }, { plan: 0, search: 0 }];
  for (const [dir, set] of sets) {
    const history = openHistory(dir);
    const cases = readCases(set);
    let [plan, search] = [0, 0];
    for (const one of cases) {
      await history.goTo(one.parent);
      const ranking = rank(history.db, one.query, "repo", WEIGHTS, history.splitter);
      const { steps } = planOf(history.db, sceneOf(history), ranking, one.query, "summary");
      const isHit = (paths: readonly string[]) => paths.slice(0, FIRST).some((path) => one.relevant.includes(path));
      if (isHit(steps.map(({ read }) => read.replace(/#.*/, "")))) plan++;
      if (isHit(ranking.files.map(({ path }) => path))) search++;
    }
    history.db.close();
    lines.push(row(nameOfSet(set), cases.length, plan, search));
    all.n += cases.length;
    sums.plan += plan;
    sums.search += search;
  }
  return [...lines, row("all", all.n, sums.plan, sums.search)].join("\n");
}

function row(name: string, count: number, plan: number, search: number): string {
  return `| ${name} | ${count} | ${(plan / count).toFixed(3)} | ${(search / count).toFixed(3)} |`;
}

function sceneOf({ db, splitter, text }: History): Scene {
  const view = openView(db);
  return {
    ...{ db, view, splitter, resolver: createResolver(view) },
    lines: (path) => text(path)?.split("\n"),
    names: () => [],
    shown: (path) => path,
    coverage: () => 1,
  };
}
