import { mkdirSync, readdirSync, renameSync, rmdirSync } from "node:fs";
import { join } from "node:path";

/** Empty folders that stand where a name is missing. Taking one away never takes anything that somebody put into it. */
export interface Placeholders {
  /** False when the name could not be taken: it is there now, or the folder is read-only. */
  place(path: string): boolean;
  remove(path: string): void;
  close(): void;
}

/** Removing a folder costs ten times as much as moving it, so those taken away are kept aside for the next time. */
export function createPlaceholders(aside: string): Placeholders {
  const spares: string[] = [];
  let count = 0;

  function keep(path: string): boolean {
    if (count === 0) mkdirSync(aside, { recursive: true, mode: 0o700 });
    const spare = join(aside, String(count++));
    if (readdirSync(path).length > 0) return false;
    renameSync(path, spare);
    // Something can have come into it in between: then it goes back to where it was put.
    if (readdirSync(spare).length > 0) renameSync(spare, path);
    else spares.push(spare);
    return true;
  }

  return {
    place(path) {
      const spare = spares.pop();
      try {
        if (spare === undefined) mkdirSync(path, { mode: 0o555 });
        else renameSync(spare, path);
        return true;
      } catch {
        if (spare !== undefined) removeEmpty(spare);
        return false;
      }
    },
    remove(path) {
      try {
        if (keep(path)) return;
      } catch {
        // Another file system, or no room for spares: removed instead.
      }
      removeEmpty(path);
    },
    close() {
      for (const spare of spares.splice(0)) removeEmpty(spare);
      if (count > 0) removeEmpty(aside);
      count = 0;
    },
  };
}

/** rmdir refuses what is not empty. */
export function removeEmpty(path: string): void {
  try {
    rmdirSync(path);
  } catch {
    // Not empty, not ours any more, or gone.
  }
}
