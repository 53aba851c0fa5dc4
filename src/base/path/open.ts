import { closeSync, constants, fstatSync, lstatSync, openSync, readlinkSync, type Stats } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { Fault } from "../fault.ts";
import { visible } from "../text.ts";
import { outside, type Roots, type SafePath } from "./roots.ts";

/** O_PATH: names a place without opening it. It never blocks on a FIFO and never wakes a device. */
const O_PATH = 0o10000000;

/** A place the kernel holds still for us, verified after it was taken: what its path becomes meanwhile does not matter. */
export interface Pinned extends Disposable {
  readonly fd: number;
  /** The descriptor's own name in /proc: to open, list or create through, however the path is swapped. */
  readonly proc: string;
  readonly real: string;
  readonly shown: string;
  readonly stat: Stats;
}

/** A verified folder and a name in it that is not a link: where a write happens. */
export interface Place extends Disposable {
  readonly dir: Pinned;
  readonly name: string;
  /** The place by way of the folder's descriptor. */
  readonly proc: string;
  readonly real: string;
  readonly shown: string;
}

const MAX_LINKS = 40;

/** Pins whatever is there. Links are followed as long as they stay inside the roots. */
export function pin(roots: Roots, path: SafePath): Pinned {
  return pinAt(roots, path, path.abs, 0);
}

/** Pins a regular file: folders, FIFOs, sockets and devices are refused before anything is opened that could block. */
export function pinFile(roots: Roots, path: SafePath): Pinned {
  const pinned = pin(roots, path);
  if (pinned.stat.isFile()) return pinned;
  pinned[Symbol.dispose]();
  if (pinned.stat.isDirectory())
    throw new Fault("is_directory", `${visible(path.shown)} is a folder.`, { hint: "Use list_dir." });
  throw special(path, pinned.stat);
}

export function pinDir(roots: Roots, path: SafePath): Pinned {
  const pinned = pin(roots, path);
  if (pinned.stat.isDirectory()) return pinned;
  pinned[Symbol.dispose]();
  throw new Fault("not_a_directory", `${visible(path.shown)} is not a folder.`);
}

/** A descriptor of the same file for reading or writing: it cannot be another one, whatever the path says now. */
export function reopen(pinned: Pinned, flags: number = constants.O_RDONLY): number {
  try {
    return openSync(pinned.proc, flags | constants.O_NOCTTY | constants.O_NONBLOCK);
  } catch (error) {
    throw translated(pinned.shown, error);
  }
}

/**
 * The folder and the name where a write to this path would land. A link at the end is followed to where it leads (it need
 * not exist); if that is outside, the write is refused. The root itself is no such place.
 */
export function place(roots: Roots, path: SafePath): Place {
  let abs = path.abs;
  for (let links = 0; links < MAX_LINKS; links++) {
    if (roots.list.includes(abs)) throw new Fault("path_denied", "This is a root itself.", { rule: "roots" });
    const dir = pinAt(roots, path, dirname(abs), constants.O_DIRECTORY, "read");
    const name = basename(abs);
    const proc = `${dir.proc}/${name}`;
    const target = linkTarget(proc);
    if (target === undefined) {
      try {
        const real = join(dir.real, name);
        const shown = roots.admit(real, path.access, path);
        return { dir, name, proc, real, shown, [Symbol.dispose]: () => dir[Symbol.dispose]() };
      } catch (error) {
        dir[Symbol.dispose]();
        throw error;
      }
    }
    abs = resolve(dir.real, target);
    dir[Symbol.dispose]();
    if (!roots.contains(abs)) throw outside(path.shown, false);
  }
  throw new Fault("path_denied", `Too many links: ${visible(path.shown)}`);
}

function pinAt(roots: Roots, path: SafePath, abs: string, flags: number, access = path.access): Pinned {
  let fd: number;
  try {
    fd = openSync(abs, O_PATH | flags);
  } catch (error) {
    throw explained(roots, path, abs, error);
  }
  try {
    const proc = `/proc/self/fd/${fd}`;
    const real = readlinkSync(proc);
    const shown = roots.admit(real, access, path);
    return { fd, proc, real, shown, stat: fstatSync(fd), [Symbol.dispose]: () => closeSync(fd) };
  } catch (error) {
    closeSync(fd);
    throw error instanceof Fault ? error : translated(path.shown, error);
  }
}

/** Why an open failed, without telling anything about what lies outside the roots. */
function explained(roots: Roots, path: SafePath, abs: string, error: unknown): Fault {
  if (leaves(roots, abs)) return outside(path.shown, false);
  return translated(path.shown, error);
}

/** Walks the path link by link, looking only at what lies inside, and says whether it leads out. */
function leaves(roots: Roots, abs: string): boolean {
  const rest = abs.split("/").filter(Boolean);
  let here = "/";
  let links = 0;
  while (rest.length > 0) {
    const next = join(here, rest.shift()!);
    const isInside = roots.contains(next);
    const target = isInside ? linkTarget(next) : undefined;
    if (!isInside && !roots.list.some((root) => root.startsWith(next === "/" ? "/" : `${next}/`))) return true;
    if (target === undefined) {
      here = next;
      continue;
    }
    if (++links > MAX_LINKS) return false;
    rest.unshift(...resolve(here, target).split("/").filter(Boolean));
    here = "/";
  }
  return false;
}

function linkTarget(path: string): string | undefined {
  try {
    return lstatSync(path).isSymbolicLink() ? readlinkSync(path) : undefined;
  } catch {
    return undefined;
  }
}

export function translated(shown: string, error: unknown): Fault {
  const name = visible(shown);
  switch ((error as NodeJS.ErrnoException).code) {
    case "ENOENT":
      return new Fault("file_not_found", `No such file or folder: ${name}`);
    case "ENOTDIR":
      return new Fault("not_a_directory", `A part of the path is not a folder: ${name}`);
    case "EISDIR":
      return new Fault("is_directory", `${name} is a folder.`);
    case "EACCES":
    case "EPERM":
      return new Fault("permission_denied", `The system does not allow this on ${name}.`);
    case "ELOOP":
      return new Fault("path_denied", `Links in a circle: ${name}`);
    case "ENAMETOOLONG":
      return new Fault("path_denied", `The path is too long: ${name.slice(0, 80)}…`);
    case "ENXIO":
      return new Fault("path_denied", `${name} is not a regular file.`);
    default:
      return new Fault("internal_error", `The system failed on ${name}.`, { cause: error });
  }
}

function special(path: SafePath, stat: Stats): Fault {
  const kind = stat.isFIFO() ? "a FIFO" : stat.isSocket() ? "a socket" : "a device";
  return new Fault("path_denied", `${visible(path.shown)} is ${kind}, not a regular file.`, {
    rule: "regular files only",
  });
}
