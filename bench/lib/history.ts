import { readFileSync } from "node:fs";
import { basename } from "node:path";
import type { Db } from "../../src/base/db.ts";
import { createParser } from "../../src/engines/rag/parse.ts";
import { openStore, type Prepared, prepare, put, remove } from "../../src/engines/rag/store.ts";
import { createSplitter, type Splitter } from "../../src/engines/rag/terms.ts";
import { openTrees } from "./git-tree.ts";

/** A commit: what its message says, and which files it changed in the tree of its parent. */
export interface Case {
  readonly parent: string;
  readonly query: string;
  readonly relevant: readonly string[];
}

/** An index that follows a repository from commit to commit. */
export interface History {
  readonly db: Db;
  readonly splitter: Splitter;
  /** Every path of the tree it is at. */
  paths(): readonly string[];
  text(path: string): string | undefined;
  /** Moves on; answers what is other than before. */
  goTo(commit: string): Promise<{ readonly changed: readonly string[]; readonly gone: readonly string[] }>;
}

export function openHistory(dir: string): History {
  const trees = openTrees(dir);
  const [parser, splitter] = [createParser(), createSplitter()];
  const db = openStore(":memory:");
  const texts = new Map<string, Buffer>();
  const prepared = new Map<string, Prepared>();
  let current = new Map<string, string>();
  return {
    db,
    splitter,
    paths: () => [...current.keys()],
    text: (path) => texts.get(current.get(path) ?? "")?.toString("utf8"),
    async goTo(commit) {
      const next = trees.files(commit);
      const changed = [...next].filter(([path, blob]) => current.get(path) !== blob);
      const unread = new Set(changed.map(([, blob]) => blob).filter((blob) => !texts.has(blob)));
      for (const [blob, bytes] of trees.read([...unread])) texts.set(blob, bytes);
      for (const [path, blob] of changed) {
        const bytes = texts.get(blob);
        if (bytes && !prepared.has(`${blob} ${path}`))
          prepared.set(`${blob} ${path}`, await prepare(path, bytes, 0, parser, splitter));
      }
      const gone = [...current.keys()].filter((path) => !next.has(path));
      db.transaction(() => {
        for (const path of gone) remove(db, path);
        for (const [path, blob] of changed) {
          const file = prepared.get(`${blob} ${path}`);
          if (file) put(db, file, splitter);
          else remove(db, path);
        }
      });
      current = next;
      return { changed: changed.map(([path]) => path), gone };
    },
  };
}

export function readCases(set: string): Case[] {
  const lines = readFileSync(set, "utf8").trim().split("\n");
  return lines.map((line) => JSON.parse(line) as Case);
}

/** What a set is about: `commits.hono.jsonl` is hono. */
export function nameOfSet(set: string): string {
  return basename(set).replace(/^commits\.|\.jsonl$/g, "");
}
