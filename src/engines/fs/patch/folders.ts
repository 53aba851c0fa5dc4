import { dirname } from "node:path";
import { pinDir } from "../../../base/path/index.ts";
import type { ChangeDeps } from "../change.ts";
import { type Deed, refOf, unstage } from "../journal/index.ts";
import { makeDirs } from "../mkdirs.ts";
import { nearestFolder } from "../nearest-folder.ts";
import type { FileTask } from "./plan.ts";

/** Makes the folders that new files need. Journalled first: those that stay empty go again when the change comes to nothing. */
export function makeFolders(deps: ChangeDeps, tasks: readonly FileTask[]): { done(): void; undo(): void } {
  const targets = tasks.flatMap((task) => (task.target ? [task.target] : []));
  const ids: number[] = [];
  const deeds: Deed[] = [];
  const settle = () => {
    for (const id of ids) deps.journal.end(id);
  };
  const undo = () => {
    for (const deed of deeds.toReversed()) unstage(deed);
    settle();
  };
  try {
    for (const target of targets) {
      const { real, missing } = nearestFolder(deps.roots, target);
      if (missing.length === 0) continue;
      using folder = pinDir(deps.roots, deps.roots.mint(real, "read"));
      const deed: Deed = { kind: "mkdir", dir: refOf(folder), name: missing[0]! };
      ids.push(deps.journal.begin("staged", [deed]));
      deeds.push(deed);
      makeDirs(deps.roots, deps.roots.mint(dirname(target.abs), "write"), true);
    }
  } catch (error) {
    undo();
    throw error;
  }
  return { done: settle, undo };
}
