import { existsSync } from "node:fs";
import type { Roots } from "../../base/path/index.ts";
import { openSqlite } from "../../base/store/sqlite.ts";
import type { Schema, Store } from "../../base/store/types.ts";
import type { ChangeDeps } from "./change.ts";
import { createJournal, recover } from "./journal/index.ts";
import { createLocks } from "./locks/index.ts";
import type { MaaslOptions } from "./options.ts";
import { thisProcess } from "./process.ts";
import { LOCKS, storeFile } from "./store.ts";

interface WriterDeps {
  readonly roots: Roots;
  readonly state_dir: string;
  readonly openShared?: ((schema: Schema) => Promise<Store>) | undefined;
}

export interface Writers {
  get(): Promise<ChangeDeps>;
  readonly settled: Promise<void>;
  close(): Promise<void>;
}

/** What changes stand on, opened when the first one comes, or at once when an earlier process may have left something. */
export function createWriters(options: MaaslOptions, deps: WriterDeps): Writers {
  let opened: Promise<{ db: Store; change: ChangeDeps }> | undefined;

  async function open(): Promise<{ db: Store; change: ChangeDeps }> {
    const db = deps.openShared ? await deps.openShared(LOCKS) : openSqlite(storeFile(deps.state_dir), LOCKS);
    const here = thisProcess();
    const settle = async (fences: readonly number[]) => void (await recover(db, here, deps.roots.contains, fences));
    await settle([]);
    const locks = createLocks(options, db, here, settle);
    return { db, change: { roots: deps.roots, locks, journal: createJournal(db, here) } };
  }

  async function get(): Promise<ChangeDeps> {
    opened ??= open();
    try {
      return (await opened).change;
    } catch (error) {
      opened = undefined;
      throw error;
    }
  }

  const isDue = deps.openShared !== undefined || existsSync(storeFile(deps.state_dir));
  const early = isDue
    ? get().then(
        () => {},
        () => {},
      )
    : Promise.resolve();
  return {
    get,
    settled: deps.openShared ? Promise.resolve() : early,
    async close() {
      await early;
      const last = await opened?.catch(() => undefined);
      opened = undefined;
      await last?.db.close();
    },
  };
}
