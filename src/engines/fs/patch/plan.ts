import { Fault } from "../../../base/fault.ts";
import { place, type Roots, type SafePath } from "../../../base/path/index.ts";
import { visible } from "../../../base/text.ts";
import type { LockTarget } from "../locks/index.ts";
import { realOf } from "../nearest-folder.ts";
import type { FilePatch } from "./parse.ts";

export type PatchAction = "create" | "modify" | "delete" | "rename" | "copy";

/** What is to be done to one file. */
export interface FileTask {
  /** As callers see it. */
  readonly path: string;
  readonly action: PatchAction;
  readonly source: SafePath | undefined;
  readonly target: SafePath | undefined;
  /** In order; more than one when the patch comes back to the same file. */
  readonly parts: FilePatch[];
}

/** The tasks of a patch, one for each file that it touches. */
export function planTasks(patches: readonly FilePatch[], mint: (path: string) => SafePath): FileTask[] {
  const tasks: FileTask[] = [];
  const touched = new Map<string, FileTask>();
  for (const patch of patches) {
    const source = patch.old_path === undefined ? undefined : mint(patch.old_path);
    const target = patch.new_path === undefined ? undefined : mint(patch.new_path);
    const action = actionOf(patch, source, target);
    const known = touched.get((target ?? source)!.abs);
    if (known?.action === "modify" && action === "modify") {
      known.parts.push(patch);
      continue;
    }
    const changed = [action === "copy" ? undefined : source, target].filter((path) => path !== undefined);
    const twice = changed.find((path) => touched.has(path.abs));
    if (twice) throw touchedTwice(twice);
    const task = { path: (target ?? source)!.shown, action, source, target, parts: [patch] };
    for (const path of changed) touched.set(path.abs, task);
    tasks.push(task);
  }
  return tasks;
}

function touchedTwice(path: SafePath): Fault {
  return new Fault("invalid_args", `The patch touches ${visible(path.shown)} twice in ways that cannot be joined.`);
}

function actionOf(patch: FilePatch, source: SafePath | undefined, target: SafePath | undefined): PatchAction {
  if (!source) return "create";
  if (!target) return "delete";
  if (source.abs === target.abs) return "modify";
  return patch.is_copy ? "copy" : "rename";
}

/** The resolved paths of all that will change, also where folders are still missing. */
export function lockTargets(roots: Roots, tasks: readonly FileTask[]): LockTarget[] {
  const targets: LockTarget[] = [];
  for (const task of tasks) {
    const reals = new Set<string>();
    for (const path of [task.action === "copy" ? undefined : task.source, task.target]) {
      if (!path) continue;
      const real = resolved(roots, path);
      // Two names of one file, by way of a link: the second change would undo the first.
      if (!reals.has(real) && targets.some((target) => target.real === real)) throw touchedTwice(path);
      reals.add(real);
      targets.push({ real, shown: path.shown });
    }
  }
  return targets;
}

function resolved(roots: Roots, path: SafePath): string {
  try {
    using here = place(roots, path);
    return here.real;
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== "file_not_found") throw error;
    return realOf(roots, path);
  }
}
