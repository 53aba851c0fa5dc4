import type { Db } from "../../../base/db.ts";
import { coverageOf } from "../stats.ts";
import { linesOf } from "../store.ts";
import type { Splitter } from "../terms.ts";
import { createResolver, type Resolver } from "./resolve.ts";
import { openView, type View } from "./view.ts";

/** What every question to the graph is answered with. */
export interface Scene {
  readonly db: Db;
  readonly view: View;
  readonly resolver: Resolver;
  readonly splitter: Splitter;
  /** The lines of a file as it is indexed; nothing when it changed, may not be read, or does not hold what it should. */
  lines(path: string, holding?: string): readonly string[] | undefined;
  /** Names that begin like a name, to find what was meant. */
  names(like: string): string[];
  shown(path: string): string;
  coverage(): number;
}

interface SceneDeps {
  readonly db: Db;
  readonly splitter: Splitter;
  read(path: string, holding?: string): string | undefined;
  shown(path: string): string;
}

/** Keeps what was read of the graph for as long as nobody changes the index. */
export function createScenes({ db, splitter, read, shown }: SceneDeps): () => Scene {
  let version: number | undefined;
  let kept: { view: View; resolver: Resolver } | undefined;
  return () => {
    const { data_version: now } = db.get<{ data_version: number }>("PRAGMA data_version")!;
    if (!kept || now !== version) {
      const fresh = openView(db);
      kept = { view: fresh, resolver: createResolver(fresh) };
      version = now;
    }
    const { view, resolver } = kept;
    return {
      view,
      resolver,
      db,
      splitter,
      shown,
      lines: (path, holding) => {
        const text = read(path, holding);
        return text === undefined ? undefined : linesOf(text);
      },
      names: (like) => {
        const first = like.slice(0, 1);
        const found = db.all<{ name: string }>(
          "SELECT DISTINCT name FROM defs WHERE name >= ? AND name < ? LIMIT 2000",
          first,
          `${first}\u{10ffff}`,
        );
        return found.map((row) => row.name);
      },
      coverage: () => view.once("coverage", () => coverageOf(db)),
    };
  };
}
