import { type Dirent, lstatSync, readdirSync } from "node:fs";
import { join, relative } from "node:path";
import { setImmediate } from "node:timers/promises";
import { Fault } from "../../base/fault.ts";
import { compileDenied } from "../../base/path/denied.ts";

export interface DeniedRules {
  /** Literal names that hold at the top of a root too. */
  readonly top: readonly string[];
  /** Whether an entry of this name can be denied at all: asked before the rules are. */
  mayDeny(name: string): boolean;
  /** By a path relative to its root. */
  denies(path: string, access: "read" | "write"): boolean;
}

export function readRules(denied: readonly string[]): DeniedRules {
  const names = denied
    .filter((rule) => !rule.startsWith("!"))
    .map((rule) =>
      rule
        .replace(/^rw:/, "")
        .replace(/^\//, "")
        .replace(/\/(\*\*)?$/, ""),
    );
  const literal = names.filter((name) => !/[*?[\]{}()!]/.test(name) && name !== "");
  const lastNames = new Set(literal.map((name) => name.split("/").at(-1)!.toLowerCase()));
  const hasGlobs = literal.length < names.length;
  const compiled = compileDenied(denied);
  return {
    top: literal.filter((name) => !name.includes("/")),
    mayDeny: (name) => hasGlobs || lastNames.has(name.toLowerCase()),
    denies: (path, access) => compiled.rule(path, access) !== undefined,
  };
}

export interface DeniedNames {
  /** Every denied name in the roots as they are now, links included. */
  look(): Promise<ReadonlySet<string>>;
}

interface Folder {
  readonly changed_ms: number;
  readonly folders: readonly string[];
  readonly names: readonly string[];
}

/** More than this is no project, and looking at all of it before each run is no plan. */
const MAX_FOLDERS = 300_000;
/** Folders looked at before others get a turn. */
const SLICE = 500;
/** The kernel's clock for files ticks this coarsely: a folder that changed just now may change again within the same tick. */
const TICK_MS = 20;
/** Not part of anybody's project, and the sandbox has its own. */
const SYSTEM = new Set(["/proc", "/sys", "/dev", "/run", "/tmp", "/var/tmp"]);

/**
 * Finds denied names at any depth. A folder is read again only when it changed, so a second look costs one lstat for each folder.
 * Its time of change cannot be set by a program, unlike its time of modification.
 */
export function createDeniedNames(roots: readonly string[], rules: DeniedRules, state_dir: string): DeniedNames {
  let known = new Map<string, Folder>();
  let looking: Promise<ReadonlySet<string>> | undefined;

  async function lookNow(): Promise<ReadonlySet<string>> {
    const [seen, found] = [new Map<string, Folder>(), new Set<string>()];
    for (const root of roots) {
      const waiting = [root];
      for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
        const folder = read(path, root, known.get(path));
        if (!folder || seen.has(path)) continue;
        seen.set(path, folder);
        for (const name of folder.names) found.add(name);
        waiting.push(...folder.folders);
        if (seen.size > MAX_FOLDERS) throw tooMany();
        if (seen.size % SLICE === 0) await setImmediate();
      }
    }
    known = seen;
    return found;
  }

  function read(path: string, root: string, before: Folder | undefined): Folder | undefined {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (!stat?.isDirectory()) return undefined;
    if (before?.changed_ms === stat.ctimeMs) return before;
    const settled = Math.abs(Date.now() - stat.ctimeMs) > TICK_MS;
    const [folders, names]: [string[], string[]] = [[], []];
    for (const entry of entries(path)) {
      const below = join(path, entry.name);
      if (rules.mayDeny(entry.name) && rules.denies(relative(root, below), "write")) names.push(below);
      else if (entry.isDirectory() && below !== state_dir && !SYSTEM.has(below)) folders.push(below);
    }
    return { changed_ms: settled ? stat.ctimeMs : Number.NaN, folders, names };
  }

  return {
    // Two that ask at once must not share a look that began before the second asked: it waits for its own.
    look() {
      const mine = (looking ?? Promise.resolve()).catch(() => {}).then(lookNow);
      looking = mine;
      return mine;
    },
  };
}

function tooMany(): Fault {
  return new Fault("isolation_required", `The roots hold more than ${MAX_FOLDERS} folders: too many to guard.`, {
    hint: 'Narrow mcp.tools.allowed_roots, or run in a container of its own with LLMC_ISOLATED=1 or run_cmd_trust = "host".',
  });
}

function entries(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}
