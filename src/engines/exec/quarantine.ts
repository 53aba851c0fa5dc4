import {
  closeSync,
  constants,
  cpSync,
  lstatSync,
  mkdirSync,
  openSync,
  readlinkSync,
  renameSync,
  rmSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { correlationId } from "../../base/ids.ts";

/**
 * Moves names that project code made, and must not make, out of the roots. Nothing is deleted: whoever owns the machine finds them in the state
 * folder. Answers with those that were moved.
 */
export function quarantine(paths: readonly string[], state_dir: string): string[] {
  if (paths.length === 0) return [];
  const place = join(state_dir, "quarantine", `${new Date().toISOString().replace(/[:.]/g, "-")}-${correlationId()}`);
  mkdirSync(place, { recursive: true, mode: 0o700 });
  return paths.filter((path, index) => move(path, join(place, `${index}-${basename(path)}`)));
}

/** By a descriptor of its folder, which is where it was found: a folder exchanged for a link meanwhile moves nothing elsewhere. */
function move(path: string, target: string): boolean {
  const folder = dirname(path);
  let descriptor: number | undefined;
  try {
    descriptor = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
    if (readlinkSync(`/proc/self/fd/${descriptor}`) !== folder) return false;
    const pinned = `/proc/self/fd/${descriptor}/${basename(path)}`;
    if (!lstatSync(pinned, { throwIfNoEntry: false })) return false;
    try {
      renameSync(pinned, target);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EXDEV") throw error;
      cpSync(pinned, target, { recursive: true, verbatimSymlinks: true });
      rmSync(pinned, { recursive: true, force: true });
    }
    return true;
  } catch {
    return false;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}
