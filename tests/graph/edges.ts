import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Db } from "../../src/base/db.ts";
import { edgeOf, isResolved } from "../../src/engines/rag/graph/edges.ts";
import { createResolver } from "../../src/engines/rag/graph/resolve.ts";
import { kindOfUse } from "../../src/engines/rag/graph/store.ts";
import { openView } from "../../src/engines/rag/graph/view.ts";
import { createParser } from "../../src/engines/rag/parse.ts";
import { openStore, prepare, put } from "../../src/engines/rag/store.ts";
import { createSplitter } from "../../src/engines/rag/terms.ts";

/** A repository in one text: `== path` begins a file, `== edges` what the graph must say of it. */
export interface Repository {
  readonly files: Readonly<Record<string, string>>;
  readonly edges: readonly string[];
}

export function readRepository(name: string): Repository {
  const text = readFileSync(join(import.meta.dirname, "repositories", `${name}.txt`), "utf8");
  const [, ...parts] = text.split(/^== (.+)\n/m);
  const files: Record<string, string> = {};
  for (let index = 0; index < parts.length; index += 2) files[parts[index]!] = parts[index + 1]!;
  const { edges = "", ...sources } = files;
  return { files: sources, edges: edges.split("\n").filter((line) => line !== "") };
}

/** An index in memory, to which files can be given again. */
export interface Given extends Disposable {
  readonly db: Db;
  put(path: string, text: string): Promise<void>;
}

export async function graphOf(files: Readonly<Record<string, string>>): Promise<Given> {
  const db = openStore(":memory:");
  const [parser, splitter] = [createParser(), createSplitter()];
  const give = async (path: string, text: string) => {
    const prepared = await prepare(path, Buffer.from(text), 0, parser, splitter);
    db.transaction(() => put(db, prepared, splitter));
  };
  for (const [path, text] of Object.entries(files)) await give(path, text);
  return { db, put: give, [Symbol.dispose]: () => db.close() };
}

/**
 * Every edge, in the order of its place: `path:line kind name -> path:line symbol`. Where it is not sure, `?` and all that it may be.
 * Uses of what other people made have no edge.
 */
export function edgesOf(db: Db): string[] {
  const view = openView(db);
  const resolver = createResolver(view);
  const lines: string[] = [];
  for (const { path } of db.all<{ path: string }>("SELECT path FROM files ORDER BY path")) {
    const file = view.fileAt(path)!;
    const uses = view.usesIn(file).sort((a, b) => a.place[0] - b.place[0] || a.place[1] - b.place[1]);
    for (const { name, place } of uses) {
      const edge = edgeOf(view, resolver, file, name, place);
      if (edge.defs.length === 0) continue;
      const targets = [...new Set(edge.defs.map((def) => `${def.file.path}:${def.line} ${def.symbol}`))].sort();
      lines.push(
        `${path}:${place[0]} ${kindOfUse(place)} ${name} ${isResolved(edge) ? "->" : "?"} ${targets.join(", ")}`,
      );
    }
  }
  return lines;
}
