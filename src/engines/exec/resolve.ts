import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { inside } from "../../base/path/index.ts";

/** Where a system keeps programs that only its administrator can change. */
const SYSTEM_DIRS = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];
/** Where anybody can put a program. */
const ANYBODYS = ["/tmp", "/var/tmp", "/dev/shm", "/run/user"];

export interface Programs {
  /** For readers: the system's folders only. */
  readonly system_path: string;
  /** For project code: the server's PATH without what the project or anybody could have planted. */
  readonly project_path: string;
  readonly project_dirs: readonly string[];
  /** Absolute and real, or undefined when it is not installed. */
  system(name: string): string | undefined;
  project(name: string): string | undefined;
}

/** Finds programs once and for all: what a PATH says later changes nothing. */
export function createPrograms(path: string, roots: readonly string[]): Programs {
  const system = SYSTEM_DIRS.filter((dir) => isTrusted(dir));
  const project = [...new Set(path.split(":"))].filter(
    (dir) => isAbsolute(dir) && !isOfAPackage(dir) && !isPlanted(dir, roots) && isTrusted(dir),
  );
  const project_dirs = [...new Set([...project, ...system])];
  return {
    system_path: system.join(":"),
    project_path: project_dirs.join(":"),
    project_dirs,
    system: remembered((name) => findIn(system, name)),
    project: remembered((name) => findIn(project_dirs, name)),
  };
}

function remembered(find: (name: string) => string | undefined): (name: string) => string | undefined {
  const known = new Map<string, string | undefined>();
  return (name) => {
    if (!known.has(name)) known.set(name, find(name));
    return known.get(name);
  };
}

function findIn(dirs: readonly string[], name: string): string | undefined {
  if (name.includes("/") || name === "" || name === "." || name === "..") return undefined;
  return dirs.map((dir) => join(dir, name)).find(isProgram);
}

export function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

/** npm and npx put their packages' programs first for whatever they start, us included: they are not the machine's. */
function isOfAPackage(dir: string): boolean {
  return `${dir}/`.includes("/node_modules/");
}

function isPlanted(dir: string, roots: readonly string[]): boolean {
  const real = realOr(dir);
  return [dir, real].some((place) => [...roots, ...ANYBODYS].some((folder) => folder !== "/" && inside(place, folder)));
}

/** A folder that nobody but its owner can write to. */
function isTrusted(dir: string): boolean {
  try {
    const stat = statSync(dir);
    return stat.isDirectory() && (stat.mode & 0o002) === 0;
  } catch {
    return false;
  }
}

export function realOr(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
