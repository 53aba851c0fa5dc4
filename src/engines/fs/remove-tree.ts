import { closeSync, constants, lstatSync, openSync, readdirSync, rmdirSync, unlinkSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";

const O_PATH = 0o10000000;

/** Removes what is at the path and all below it. Gives how many things went. */
export function removeTree(path: string): number {
  const steps = removal(path);
  for (let step = steps.next(); ; step = steps.next()) if (step.done) return step.value;
}

/** The same, letting other work in between. */
export async function removeTreeSlowly(path: string): Promise<number> {
  const steps = removal(path);
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done) return step.value;
    await nextTurn();
  }
}

/** Folder by folder through descriptors: a link put in the way is removed, not followed. Pauses after each folder. */
function* removal(path: string): Generator<void, number> {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (!stat) return 0;
  if (!stat.isDirectory()) {
    unlinkSync(path);
    return 1;
  }
  let removed = 1;
  const fd = openSync(path, O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    const proc = `/proc/self/fd/${fd}`;
    for (const name of readdirSync(proc)) removed += yield* removal(`${proc}/${name}`);
  } finally {
    closeSync(fd);
  }
  rmdirSync(path);
  yield;
  return removed;
}
