import type { Db } from "../../../base/db.ts";
import { hashOf } from "../store.ts";

/** Writes a summary with a model; nothing when it must not or cannot. */
export type Summarize = (text: string, signal: AbortSignal) => Promise<{ readonly text: string } | null>;

const MAX_KEPT = 5_000;
const MAX_TEXT = 1_000;

/** Written summaries, kept by the hash of what they are about: the same code is not sent twice. */
export function createSummaries(db: Db, summarize: Summarize | undefined) {
  return async (text: string, signal: AbortSignal): Promise<string | undefined> => {
    if (!summarize) return undefined;
    const hash = hashOf(Buffer.from(text));
    const known = db.get<{ summary: string }>("SELECT summary FROM summaries WHERE hash = ?", hash);
    if (known) return known.summary;
    const made = await summarize(text, signal).catch(() => {
      signal.throwIfAborted();
      return null;
    });
    const summary = made?.text.trim().slice(0, MAX_TEXT);
    if (summary === undefined || summary === "") return undefined;
    db.transaction(() => {
      db.run("INSERT OR REPLACE INTO summaries (hash, summary) VALUES (?, ?)", hash, summary);
      db.run("DELETE FROM summaries WHERE rowid <= (SELECT max(rowid) FROM summaries) - ?", MAX_KEPT);
    });
    return summary;
  };
}
