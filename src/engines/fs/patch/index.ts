/** Unified diffs over several files: all of it or nothing, under locks, with a reason for each hunk that does not fit. */
import { closeSync, type Stats } from "node:fs";
import { Fault } from "../../../base/fault.ts";
import type { Place, SafePath } from "../../../base/path/index.ts";
import { runBatch } from "../batch.ts";
import { type Call, type ChangeDeps, changedOutside, hasChanged, stage, writeFault } from "../change.ts";
import { synced } from "../io.ts";
import { type Deed, refOf, tempName, versionOf } from "../journal/index.ts";
import { makeFolders } from "./folders.ts";
import { parsePatch } from "./parse.ts";
import { lockTargets, type PatchAction, planTasks } from "./plan.ts";
import { type Outcome, resolveTasks } from "./resolve.ts";

export interface PatchOptions {
  /** Makes the paths of the patch safe ones. */
  mint(path: string): SafePath;
  readonly dry_run: boolean;
}

export interface PatchedFile {
  readonly path: string;
  readonly action: PatchAction;
  readonly hunks: number;
  readonly rejected: { readonly hunk: number; readonly reason: string }[];
}

export interface PatchResult {
  readonly files: PatchedFile[];
  readonly applied: boolean;
}

export async function applyPatch(
  deps: ChangeDeps,
  text: string,
  options: PatchOptions,
  call: Call,
): Promise<PatchResult> {
  const tasks = planTasks(parsePatch(text), options.mint);
  if (options.dry_run) return { files: (await resolveTasks(deps, tasks, call)).map(fileOf), applied: false };
  const targets = lockTargets(deps.roots, tasks);
  const hold = await deps.locks.take(targets, call.owner, call.signal);
  try {
    const now = lockTargets(deps.roots, tasks);
    if (now.some((target, index) => target.real !== targets[index]!.real))
      throw new Fault("resource_busy", "A folder of the patch was moved meanwhile; nothing was changed.");
    const outcomes = await resolveTasks(deps, tasks, call);
    const files = outcomes.map(fileOf);
    if (files.some((file) => file.rejected.length > 0)) return { files, applied: false };
    const folders = await makeFolders(deps, hold, tasks);
    try {
      await commit(deps, outcomes, hold);
    } catch (error) {
      await folders.undo();
      throw writeFault(files[0]!.path, error);
    }
    await folders.done();
    return { files, applied: true };
  } finally {
    await hold.release();
  }
}

async function commit(
  deps: ChangeDeps,
  outcomes: readonly Outcome[],
  hold: Parameters<typeof runBatch>[1],
): Promise<void> {
  const opened: Disposable[] = [];
  try {
    const steps = outcomes.flatMap((outcome) => stepsOf(deps, outcome, opened));
    await runBatch(
      deps,
      hold,
      steps.map((step) => step.deed),
      async () => {
        for (const step of steps) await step.prepare?.();
      },
      () => {
        for (const { place, seen } of steps) if (hasChanged(place, seen)) throw changedOutside(place);
      },
    );
  } finally {
    for (const entry of opened) entry[Symbol.dispose]();
  }
}

interface Step {
  readonly deed: Deed;
  readonly place: Place;
  /** What stood there when the patch was tried. */
  readonly seen: Stats | undefined;
  prepare?(): Promise<void>;
}

function stepsOf(deps: ChangeDeps, outcome: Outcome, opened: Disposable[]): Step[] {
  const steps: Step[] = [];
  const { target, source } = outcome;
  if (target) {
    const place = target.open(deps.roots);
    opened.push(place);
    const deed = {
      kind: "put",
      dir: refOf(place.dir),
      name: place.name,
      temp: tempName(),
      spare: tempName(),
      seen: versionOf(target.seen),
    } as const;
    const prepare = async () => {
      const bytes = Buffer.from(target.content, "latin1");
      const fd = stage(`${place.dir.proc}/${deed.temp}`, {
        bytes,
        seen: target.seen ?? source?.seen,
        executable: target.executable,
      });
      try {
        await synced(fd);
      } finally {
        closeSync(fd);
      }
    };
    steps.push({ deed, place, seen: target.seen, prepare });
  }
  if (source?.goes) {
    const place = source.open(deps.roots);
    opened.push(place);
    steps.push({
      deed: { kind: "drop", dir: refOf(place.dir), name: place.name, ino: source.seen.ino, spare: tempName() },
      place,
      seen: source.seen,
    });
  }
  return steps;
}

function fileOf(outcome: Outcome): PatchedFile {
  const { path, action, parts } = outcome.task;
  return {
    path,
    action,
    hunks: parts.reduce((sum, part) => sum + part.hunks.length, 0),
    rejected: [...outcome.rejected],
  };
}
