import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Db } from "../../src/base/db.ts";
import { createRules } from "../../src/engines/rag/ignored.ts";
import { createParser } from "../../src/engines/rag/parse.ts";
import { openStore, prepare, put } from "../../src/engines/rag/store.ts";
import { createSplitter } from "../../src/engines/rag/terms.ts";
import { walk } from "../../src/engines/rag/walk.ts";

/** An index of a folder in memory. */
export async function indexed(root: string): Promise<Db> {
  const db = openStore(":memory:");
  const [parser, splitter] = [createParser(), createSplitter()];
  const files = [...walk({ root, state_dir: join(root, ".llmc"), rules: await createRules(root, []) })];
  for (const { path, changed_ms } of files) {
    const prepared = await prepare(path, readFileSync(join(root, path)), changed_ms, parser, splitter);
    db.transaction(() => put(db, prepared, splitter));
  }
  return db;
}
