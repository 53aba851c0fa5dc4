import { dirname } from "node:path";
import { pinDir } from "../../../base/path/index.ts";
import type { ChangeDeps } from "../change.ts";
import { type Deed, refOf, unstage } from "../journal/index.ts";
import type { Hold } from "../locks/index.ts";
import { makeDirs } from "../mkdirs.ts";
import { nearestFolder } from "../nearest-folder.ts";
import type { FileTask } from "./plan.ts";

/** Makes the folders that new files need. Journalled first: those that stay empty go again when the change comes to nothing. */
export async function makeFolders(
  deps: ChangeDeps,
  hold: Hold,
  tasks: readonly FileTask[],
): Promise<{ done(): Promise<void>; undo(): Promise<void> }> {
  const targets = tasks.flatMap((task) => (task.target ? [task.target] : []));
  const ids: number[] = [];
  const deeds: Deed[] = [];
  const settle = async () => {
    for (const id of ids) await deps.journal.end(id);
  };
  const undo = async () => {
    for (const deed of deeds.toReversed()) unstage(deed);
    await settle();
  };
  try {
    for (const target of targets) {
      const { real, missing } = nearestFolder(deps.roots, target);
      if (missing.length === 0) continue;
      using folder = pinDir(deps.roots, deps.roots.mint(real, "read"));
      const deed: Deed = { kind: "mkdir", dir: refOf(folder), name: missing[0]! };
      ids.push(await deps.journal.begin(hold, "staged", [deed]));
      deeds.push(deed);
      makeDirs(deps.roots, deps.roots.mint(dirname(target.abs), "write"), true);
    }
  } catch (error) {
    await undo();
    throw error;
  }
  return { done: settle, undo };
}
