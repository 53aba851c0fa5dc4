import { readlinkSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { Fault } from "../../base/fault.ts";
import { type Place, pinDir, type Roots, type SafePath } from "../../base/path/index.ts";
import { visible } from "../../base/text.ts";
import { refuseRoot } from "./below.ts";

/** The folder and the name of the path itself: a link at its end is meant as a link, not as what it leads to. */
export function linkPlace(roots: Roots, path: SafePath): Place {
  refuseRoot(roots, path.abs);
  const dir = pinDir(roots, roots.mint(dirname(path.abs), "read"));
  try {
    const name = basename(path.abs);
    const real = join(dir.real, name);
    refuseRoot(roots, real);
    const shown = roots.admit(real, "write", path);
    return { dir, name, proc: `${dir.proc}/${name}`, real, shown, [Symbol.dispose]: () => dir[Symbol.dispose]() };
  } catch (error) {
    dir[Symbol.dispose]();
    throw error;
  }
}

/** A lock is on a path: while it was waited for, the folder may have been moved away from there. */
export function refuseMoved(place: Place): void {
  if (readlinkSync(place.dir.proc) !== place.dir.real)
    throw new Fault("resource_busy", `The folder of ${visible(place.shown)} was moved meanwhile; nothing was changed.`);
}
