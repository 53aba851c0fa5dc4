import { closeSync, constants, lstatSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { Fault } from "../../base/fault.ts";
import { type Pinned, pin, type Roots, type SafePath } from "../../base/path/index.ts";
import { visible } from "../../base/text.ts";
import { type Call, type ChangeDeps, writeFault } from "./change.ts";
import { realOf } from "./nearest-folder.ts";

const O_PATH = 0o10000000;

export interface MadeDirs {
  readonly path: string;
  readonly created: boolean;
}

/** Makes the folder and those above it that are missing, each inside the one verified before it. */
export function makeDirs(roots: Roots, path: SafePath, exist_ok: boolean): MadeDirs {
  const missing: string[] = [];
  let abs = path.abs;
  for (;;) {
    const found = tryPin(roots, roots.mint(abs, abs === path.abs ? "write" : "read"));
    if (found) {
      using base = found;
      return made(roots, path, base, missing.reverse(), exist_ok);
    }
    missing.push(abs.slice(abs.lastIndexOf("/") + 1));
    abs = dirname(abs);
  }
}

/** The same while the path is locked, unless there is nothing to make. */
export async function makeDirsLocked(
  deps: ChangeDeps,
  path: SafePath,
  exist_ok: boolean,
  call: Call,
): Promise<MadeDirs> {
  const there = tryPin(deps.roots, path);
  if (there || path.abs === "/") {
    there?.[Symbol.dispose]();
    return makeDirs(deps.roots, path, exist_ok);
  }
  const hold = await deps.locks.take([{ real: realOf(deps.roots, path), shown: path.shown }], call.owner, call.signal);
  try {
    return makeDirs(deps.roots, path, exist_ok);
  } finally {
    await hold.release();
  }
}

function made(roots: Roots, path: SafePath, base: Pinned, missing: readonly string[], exist_ok: boolean): MadeDirs {
  if (!base.stat.isDirectory()) {
    if (missing.length === 0) throw new Fault("target_exists", `${visible(path.shown)} exists and is not a folder.`);
    throw new Fault("not_a_directory", `${visible(base.shown)} is not a folder.`);
  }
  if (missing.length === 0) {
    if (!exist_ok) throw new Fault("target_exists", `${visible(path.shown)} exists.`);
    return { path: base.shown, created: false };
  }
  // Judged before the first one is made: a refusal leaves nothing behind.
  missing.reduce((real, name) => {
    const next = `${real === "/" ? "" : real}/${name}`;
    roots.admit(next, "write", path);
    return next;
  }, base.real);
  const open: number[] = [];
  let fd = base.fd;
  try {
    for (const name of missing) {
      const next = `/proc/self/fd/${fd}/${name}`;
      makeOne(next);
      fd = openSync(next, O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW);
      open.push(fd);
    }
  } catch (error) {
    throw writeFault(path.shown, error);
  } finally {
    open.forEach(closeSync);
  }
  return { path: roots.shown(`${base.real === "/" ? "" : base.real}/${missing.join("/")}`), created: true };
}

/** Another one may make the same folder at the same time. */
function makeOne(path: string): void {
  try {
    mkdirSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST" || !lstatSync(path).isDirectory()) throw error;
  }
}

function tryPin(roots: Roots, path: SafePath): Pinned | undefined {
  try {
    return pin(roots, path);
  } catch (error) {
    if (error instanceof Fault && error.code === "file_not_found" && !isLink(path.abs)) return undefined;
    throw error;
  }
}

/** A link that leads nowhere is no missing folder. */
function isLink(abs: string): boolean {
  return lstatSync(abs, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
}
