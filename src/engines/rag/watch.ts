import { type FSWatcher, watch } from "node:fs";
import { join } from "node:path";

export interface Watcher {
  /** Watches these folders too; one that cannot be watched ends the watching. */
  add(folders: Iterable<string>): void;
  /** Whether everything that was added is watched. */
  readonly isWhole: boolean;
  close(): void;
}

/** Each takes memory of the kernel; beyond this the tree is walked instead. */
const MAX_FOLDERS = 10_000;
const QUIET_MS = 40;
const MAX_QUIET_MS = 200;

/** Tells which paths changed, once they have been quiet for a moment. */
export function createWatcher(root: string, changed: (paths: readonly string[]) => void): Watcher {
  const watching = new Map<string, FSWatcher>();
  const dirty = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  let since = 0;
  let isWhole = true;

  function heard(folder: string, name: string | null): void {
    if (name === null) return;
    if (dirty.size === 0) since = Date.now();
    dirty.add(folder === "" ? name : `${folder}/${name}`);
    clearTimeout(timer);
    timer = setTimeout(tell, Date.now() - since > MAX_QUIET_MS ? 0 : QUIET_MS).unref();
  }

  function tell(): void {
    const paths = [...dirty];
    dirty.clear();
    changed(paths);
  }

  function open(folder: string): void {
    const watcher = watch(join(root, folder), { persistent: false }, (_event, name) => heard(folder, name));
    const drop = () => {
      watcher.close();
      watching.delete(folder);
    };
    watcher.on("error", drop);
    watching.set(folder, watcher);
  }

  return {
    get isWhole() {
      return isWhole;
    },
    add(folders) {
      for (const folder of folders) {
        if (watching.has(folder)) continue;
        if (watching.size >= MAX_FOLDERS) isWhole = false;
        if (!isWhole) return;
        try {
          open(folder);
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== "ENOENT") isWhole = false;
        }
      }
    },
    close() {
      clearTimeout(timer);
      for (const watcher of watching.values()) watcher.close();
      watching.clear();
    },
  };
}
