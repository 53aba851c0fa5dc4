import { lstatSync, renameSync, type Stats, statSync, unlinkSync } from "node:fs";
import { cp } from "node:fs/promises";
import { basename } from "node:path";
import { Fault } from "../../base/fault.ts";
import { inside, type Place, type SafePath } from "../../base/path/index.ts";
import { visible } from "../../base/text.ts";
import { runBatch } from "./batch.ts";
import { refuseDeniedBelow, refuseRoots } from "./below.ts";
import { type Call, type ChangeDeps, writeFault } from "./change.ts";
import { type Deed, giveName, refOf, tempName } from "./journal/index.ts";
import { linkPlace, refuseMoved } from "./link-place.ts";
import type { Hold } from "./locks/index.ts";

export interface Moved {
  readonly source: string;
  readonly target: string;
}

/** Moves a file, a folder or a link itself. What is at the target stays: it is never replaced. */
export async function moveEntry(
  deps: ChangeDeps,
  source: SafePath,
  target: SafePath,
  into: boolean,
  call: Call,
): Promise<Moved> {
  using from = linkPlace(deps.roots, source);
  const stat = lstatSync(from.proc, { throwIfNoEntry: false });
  if (!stat) throw new Fault("file_not_found", `No such file or folder: ${visible(from.shown)}`);
  using to = linkPlace(deps.roots, into ? deps.roots.mint(`${target.abs}/${basename(from.real)}`, "write") : target);
  const isFolder = stat.isDirectory();
  refuseTarget(from, to);
  const hold = await deps.locks.take(
    [
      { real: from.real, shown: from.shown, tree: isFolder },
      { real: to.real, shown: to.shown, tree: isFolder },
    ],
    call.owner,
    call.signal,
  );
  try {
    refuseMoved(from);
    refuseMoved(to);
    refuseTarget(from, to);
    if (isFolder) {
      refuseRoots(deps.roots, from);
      await refuseDeniedBelow(deps.roots, source, from, (rel) => `${to.real}/${rel}`, call.signal);
    }
    if (statSync(from.dir.proc).dev === statSync(to.dir.proc).dev) await moveWithin(deps, from, to, stat, hold);
    else await moveAcross(deps, from, to, stat, hold);
    return { source: from.shown, target: to.shown };
  } catch (error) {
    throw writeFault(to.shown, error);
  } finally {
    await hold.release();
  }
}

function refuseTarget(from: Place, to: Place): void {
  if (inside(to.real, from.real) && to.real !== from.real)
    throw new Fault("invalid_args", `${visible(from.shown)} cannot be moved into itself.`);
  const there = lstatSync(to.proc, { throwIfNoEntry: false });
  if (!there) return;
  const hint = there.isDirectory()
    ? "End the target in / to move into that folder."
    : "Delete it first, or choose another name.";
  throw new Fault("target_exists", `${visible(to.shown)} exists; nothing was moved.`, { hint });
}

async function moveWithin(deps: ChangeDeps, from: Place, to: Place, stat: Stats, hold: Hold): Promise<void> {
  // A folder cannot replace anything but an empty folder, so no byte is lost if one appears here just now.
  if (stat.isDirectory()) {
    await hold.commit(() => renameSync(from.proc, to.proc));
    return;
  }
  const deed = {
    kind: "move",
    dir: refOf(from.dir),
    name: from.name,
    to: refOf(to.dir),
    to_name: to.name,
    ino: stat.ino,
  } as const;
  const id = await deps.journal.begin(hold, "committed", [deed]);
  try {
    await hold.commit(() => {
      // A second name is only given where there is none, unlike a rename, which would replace what appears meanwhile.
      if (giveName(from.proc, to.proc)) unlinkSync(from.proc);
      else renameSync(from.proc, to.proc);
    }, id);
  } catch (error) {
    await deps.journal.end(id);
    if ((error as NodeJS.ErrnoException).code === "EEXIST")
      throw new Fault("target_exists", `${visible(to.shown)} exists; nothing was moved.`);
    throw error;
  }
}

/** To another file system: copied beside the target, then put in place, then the source goes. */
async function moveAcross(deps: ChangeDeps, from: Place, to: Place, stat: Stats, hold: Hold): Promise<void> {
  const deeds: Deed[] = [
    { kind: "put", dir: refOf(to.dir), name: to.name, temp: tempName(), spare: tempName(), seen: null },
    { kind: "drop", dir: refOf(from.dir), name: from.name, ino: stat.ino, spare: tempName() },
  ];
  await runBatch(deps, hold, deeds, async () => {
    const copy = `${to.dir.proc}/${(deeds[0] as Deed & { kind: "put" }).temp}`;
    const options = {
      recursive: true,
      verbatimSymlinks: true,
      preserveTimestamps: true,
      errorOnExist: true,
      force: false,
    };
    await cp(from.proc, copy, options);
  });
}
