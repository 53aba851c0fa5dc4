import { readFileSync } from "node:fs";
import type { Db } from "../../base/db.ts";
import { pinFile, type Roots } from "../../base/path/index.ts";
import { createEmbedder, type EmbedderInput } from "./embed/index.ts";
import { missingVectors, putVector } from "./embed/vectors.ts";
import type { RagOptions } from "./options.ts";
import { PER_FILE } from "./schema.ts";
import type { Shared } from "./shared.ts";
import { embedded, hashOf, linesOf } from "./store.ts";

interface FillDeps {
  readonly db: Db;
  readonly shared: Shared | undefined;
  readonly roots: Roots;
  readonly root: string;
  readonly rag: RagOptions;
  readonly embed: EmbedderInput;
  isClosed(): boolean;
}

const EMBED_MS = 60_000;

/** Makes the vectors that are missing, or takes them from another working tree. */
export async function fillVectors(deps: FillDeps): Promise<void> {
  const { db, shared, rag } = deps;
  const embedder = createEmbedder(deps.embed);
  if (!embedder) return;
  const { maker } = embedder;
  while (!deps.isClosed()) {
    const sound = missingVectors(db, maker, rag.embeddings.batch).flatMap(({ hash, id }) => {
      const text = chunkText(deps, id);
      return hashOf(Buffer.from(text)) === hash ? [{ hash, text }] : [];
    });
    // What changed since is indexed again, and comes back under another hash.
    if (sound.length === 0) return;
    const ready = sound.flatMap(({ hash }) => {
      const bytes = shared?.vector(maker, hash);
      return bytes ? [{ hash, vector: new Float32Array(bytes.slice().buffer) }] : [];
    });
    const known = new Set(ready.map(({ hash }) => hash));
    const rest = sound.filter(({ hash }) => !known.has(hash));
    const texts = rest.map(({ text }) => text);
    const made = rest.length === 0 ? [] : await embedder.documents(texts, AbortSignal.timeout(EMBED_MS));
    if (deps.isClosed()) return;
    const fresh = rest.map(({ hash }, index) => ({ hash, vector: made[index]! }));
    db.transaction(() => {
      for (const { hash, vector } of [...ready, ...fresh]) putVector(db, maker, hash, vector);
    });
    shared?.keepVectors(maker, fresh);
  }
}

/** The text as it is now. */
function chunkText({ db, roots, root, rag }: FillDeps, id: number): string {
  const row = db.get<{ path: string; first: number; last: number; symbol: string }>(
    `SELECT f.path AS path, c.first AS first, c.last AS last, c.symbol AS symbol FROM chunks c JOIN files f ON f.id = c.id / ${PER_FILE} WHERE c.id = ?`,
    id,
  );
  if (!row) return "";
  try {
    using pinned = pinFile(roots, roots.mint(row.path, "read", root));
    if (pinned.stat.size > rag.max_file_bytes) return "";
    const lines = linesOf(readFileSync(pinned.proc, "utf8")).slice(row.first - 1, row.last);
    return embedded(row.path, row.symbol, lines.join("\n"));
  } catch {
    return "";
  }
}
