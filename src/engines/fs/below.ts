import { closeSync, constants, openSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import { Fault } from "../../base/fault.ts";
import { inside, type Place, type Roots, type SafePath } from "../../base/path/index.ts";
import { visible } from "../../base/text.ts";
import { entriesOf } from "./list.ts";

const O_PATH = 0o10000000;
const MAX_ENTRIES = 1_000_000;

export function refuseRoot(roots: Roots, abs: string): void {
  if (abs === "/" || roots.list.includes(abs))
    throw new Fault("path_denied", "This is a root itself.", { rule: "roots" });
}

/** A folder that holds a root stays where it is. */
export function refuseRoots(roots: Roots, folder: Place): void {
  if (roots.list.some((root) => inside(root, folder.real)))
    throw new Fault("path_denied", `${visible(folder.shown)} holds a root.`, { rule: "roots" });
}

/** Nothing below the folder may be denied to writers: neither where it is, nor where it would be afterwards. */
export async function refuseDeniedBelow(
  roots: Roots,
  asked: SafePath,
  folder: Place,
  afterwards: ((rel: string) => string) | undefined,
  signal: AbortSignal,
): Promise<void> {
  let count = 0;
  const queue = [""];
  for (let rel = queue.pop(); rel !== undefined; rel = queue.pop()) {
    signal.throwIfAborted();
    const fd = openFolder(rel === "" ? folder.proc : `${folder.proc}/${rel}`);
    if (fd === undefined) continue;
    try {
      for (const entry of entriesOf(`/proc/self/fd/${fd}`, folder.shown)) {
        const below = rel === "" ? entry.name : `${rel}/${entry.name}`;
        roots.admit(`${folder.real}/${below}`, "write", asked);
        if (afterwards) roots.admit(afterwards(below), "write", asked);
        if (entry.isDirectory()) queue.push(below);
        if (++count > MAX_ENTRIES)
          throw new Fault("limit_exceeded", `${visible(folder.shown)} holds more than ${MAX_ENTRIES} entries.`);
      }
    } finally {
      closeSync(fd);
    }
    await nextTurn();
  }
}

function openFolder(path: string): number | undefined {
  try {
    return openSync(path, O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  } catch {
    return undefined;
  }
}
