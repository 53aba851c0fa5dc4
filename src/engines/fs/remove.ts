import { lstatSync, renameSync, unlinkSync } from "node:fs";
import { Fault } from "../../base/fault.ts";
import type { Place, SafePath } from "../../base/path/index.ts";
import { visible } from "../../base/text.ts";
import { refuseDeniedBelow, refuseRoots } from "./below.ts";
import { type Call, type ChangeDeps, writeFault } from "./change.ts";
import { refOf, tempName } from "./journal/index.ts";
import { linkPlace, refuseMoved } from "./link-place.ts";
import type { Hold } from "./locks/index.ts";
import { removeTreeSlowly } from "./remove-tree.ts";

export interface Removed {
  readonly path: string;
  readonly removed: number;
}

/** Deletes a file, a link itself, or a folder with all below it. */
export async function removeEntry(deps: ChangeDeps, path: SafePath, recursive: boolean, call: Call): Promise<Removed> {
  using here = linkPlace(deps.roots, path);
  const stat = lstatSync(here.proc, { throwIfNoEntry: false });
  if (!stat) throw new Fault("file_not_found", `No such file or folder: ${visible(here.shown)}`);
  const isFolder = stat.isDirectory();
  if (isFolder && !recursive)
    throw new Fault("is_directory", `${visible(here.shown)} is a folder.`, {
      hint: "Set recursive to delete it with all in it.",
    });
  if (isFolder) refuseRoots(deps.roots, here);
  const hold = await deps.locks.take([{ real: here.real, shown: here.shown, tree: isFolder }], call.owner, call.signal);
  try {
    refuseMoved(here);
    if (isFolder) {
      await refuseDeniedBelow(deps.roots, path, here, undefined, call.signal);
      return { path: here.shown, removed: await removeFolder(deps, here, hold) };
    }
    await hold.commit(() => unlinkSync(here.proc));
    return { path: here.shown, removed: 1 };
  } catch (error) {
    throw writeFault(here.shown, error);
  } finally {
    await hold.release();
  }
}

/** Gone from its place in one step; what is left under another name is then cleared away, by the next process if need be. */
async function removeFolder(deps: ChangeDeps, here: Place, hold: Hold): Promise<number> {
  const temp = tempName();
  const path = `${here.dir.proc}/${temp}`;
  const id = await deps.journal.begin(hold, "committed", [{ kind: "trash", dir: refOf(here.dir), temp }]);
  try {
    await hold.commit(() => renameSync(here.proc, path));
    return await removeTreeSlowly(path);
  } catch (error) {
    putBack(path, here.proc);
    throw error;
  } finally {
    await deps.journal.end(id);
  }
}

/** What the system would not let us remove stands where it stood. */
function putBack(path: string, original: string): void {
  if (lstatSync(path, { throwIfNoEntry: false }) && !lstatSync(original, { throwIfNoEntry: false }))
    renameSync(path, original);
}
