import { existsSync } from "node:fs";
import type { Db } from "../../base/db.ts";
import type { Roots } from "../../base/path/index.ts";
import type { ChangeDeps } from "./change.ts";
import { createJournal, recover } from "./journal/index.ts";
import { createLocks } from "./locks/index.ts";
import type { MaaslOptions } from "./options.ts";
import { thisProcess } from "./process.ts";
import { openStore, storeFile } from "./store.ts";

export interface Writers {
  get(): ChangeDeps;
  close(): void;
}

/** What changes stand on, opened when the first one comes, or at once when an earlier process may have left something. */
export function createWriters(
  options: MaaslOptions,
  deps: { readonly roots: Roots; readonly state_dir: string },
): Writers {
  let opened: { db: Db; change: ChangeDeps } | undefined;

  function open(): { db: Db; change: ChangeDeps } {
    const db = openStore(deps.state_dir);
    const here = thisProcess();
    const settle = () => void recover(db, here, deps.roots.contains);
    settle();
    const locks = createLocks(options, db, here, settle);
    return { db, change: { roots: deps.roots, locks, journal: createJournal(db, here) } };
  }

  function openQuietly(): typeof opened {
    try {
      return open();
    } catch {
      return undefined;
    }
  }

  if (existsSync(storeFile(deps.state_dir))) opened = openQuietly();
  return {
    get() {
      opened ??= open();
      return opened.change;
    },
    close() {
      opened?.db.close();
      opened = undefined;
    },
  };
}
