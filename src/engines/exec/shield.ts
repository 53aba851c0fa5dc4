import { lstatSync, mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Fault } from "../../base/fault.ts";
import { inside, type Roots } from "../../base/path/index.ts";
import { isAlive, startTime } from "./proc.ts";

export interface Protected {
  readonly path: string;
  readonly kind: "file" | "folder";
  /** Neither to be read nor written, instead of only not written. */
  readonly masked: boolean;
}

export interface Shield {
  /** Names in the roots that a sandbox must not write, there now or not. Hold them while the sandbox lives; dispose afterwards. */
  hold(): { readonly names: readonly Protected[] } & Disposable;
}

interface ShieldFacts {
  readonly roots: Roots;
  /** The rules as written: `.git`, `rw:.llmc`, `!.llmc/stubs`. */
  readonly denied: readonly string[];
  readonly state_dir: string;
}

/** How deep names are looked for below a root, and in how many folders. */
const DEPTH = 3;
const MAX_FOLDERS = 400;
const KNOWN_FOR_MS = 5000;
const SKIPPED = new Set(["node_modules", ".git", "target", "dist", "build", ".venv", "venv", "__pycache__"]);

/**
 * A mount can only cover what exists. So a denied name that is missing at the top of a root is made as an empty folder while
 * sandboxes run, and removed with rmdir, which cannot destroy anything. Other servers on the same root are asked first,
 * through files in the state folder.
 */
export function createShield(facts: ShieldFacts): Shield {
  const rules = readRules(facts.denied);
  const holders = join(facts.state_dir, "exec", "holders");
  const own = join(holders, `${process.pid}-${startTime(process.pid) ?? 0}`);
  const made = new Set<string>();
  let held = 0;
  let known: { at: number; names: Protected[] } | undefined;

  function acquire(): void {
    if (held++ > 0) return;
    const missing = facts.roots.list
      .flatMap((root) => rules.top.map((name) => join(root, name)))
      .filter((path) => !exists(path) && isDenied(facts.roots, path, "write"));
    if (missing.length === 0) return;
    mkdirSync(holders, { recursive: true, mode: 0o700 });
    writeFileSync(own, missing.join("\n"), { mode: 0o600 });
    for (const path of missing) {
      try {
        mkdirSync(path, { mode: 0o555 });
        made.add(path);
      } catch {
        // Somebody made it meanwhile, or the root is read-only: either way there is nothing to guard by us.
      }
    }
    known = undefined;
  }

  function release(): void {
    if (--held > 0 || made.size === 0) return;
    rmSync(own, { force: true });
    const others = heldByOthers(holders);
    for (const path of made) if (!others.has(path)) removeEmpty(path);
    made.clear();
    known = undefined;
  }

  function names(): Protected[] {
    if (known && performance.now() - known.at < KNOWN_FOR_MS) return known.names;
    const found = facts.roots.list.flatMap((root) => search(facts, rules, root));
    if (facts.roots.contains(facts.state_dir)) found.push({ path: facts.state_dir, kind: "folder", masked: true });
    known = {
      at: performance.now(),
      names: found.filter((name, at) => found.findIndex((other) => other.path === name.path) === at),
    };
    return known.names;
  }

  return {
    hold() {
      acquire();
      let open = true;
      const dispose = () => {
        if (open) release();
        open = false;
      };
      try {
        return { names: names(), [Symbol.dispose]: dispose };
      } catch (error) {
        dispose();
        throw error;
      }
    },
  };
}

/** Names of sandboxes that ended without tidying up: servers that were killed. */
export function sweepShield(state_dir: string): void {
  const holders = join(state_dir, "exec", "holders");
  for (const file of list(holders)) {
    if (isHolderAlive(file)) continue;
    const left = readLines(join(holders, file));
    rmSync(join(holders, file), { force: true });
    const others = heldByOthers(holders);
    for (const path of left) if (!others.has(path)) removeEmpty(path);
  }
}

interface Rules {
  /** Literal names at the top of a root. */
  readonly top: readonly string[];
  readonly lastNames: ReadonlySet<string>;
  readonly hasGlobs: boolean;
}

function readRules(denied: readonly string[]): Rules {
  const names = denied
    .filter((rule) => !rule.startsWith("!"))
    .map((rule) =>
      rule
        .replace(/^rw:/, "")
        .replace(/^\//, "")
        .replace(/\/(\*\*)?$/, ""),
    );
  const literal = names.filter((name) => !/[*?[\]{}()!]/.test(name) && name !== "");
  return {
    top: literal.filter((name) => !name.includes("/")),
    lastNames: new Set(literal.map((name) => name.split("/").at(-1)!.toLowerCase())),
    hasGlobs: literal.length < names.length,
  };
}

function search(facts: ShieldFacts, rules: Rules, root: string): Protected[] {
  const found: Protected[] = [];
  let folders = [root];
  let visited = 0;
  for (let depth = 0; depth < DEPTH && folders.length > 0; depth++) {
    const next: string[] = [];
    for (const folder of folders) {
      if (visited++ >= MAX_FOLDERS) return found;
      for (const entry of list(folder)) {
        const path = join(folder, entry);
        const candidate = rules.hasGlobs || rules.lastNames.has(entry.toLowerCase());
        if (candidate && isDenied(facts.roots, path, "write")) found.push(...protect(facts.roots, path));
        else if (!SKIPPED.has(entry) && path !== facts.state_dir && isFolder(path)) next.push(path);
      }
    }
    folders = next;
  }
  return found;
}

function protect(roots: Roots, path: string): Protected[] {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  // A link cannot be covered by a mount, and following it would cover something else: what it leads to has its own rules.
  if (!stat || stat.isSymbolicLink()) return [];
  return [{ path, kind: stat.isDirectory() ? "folder" : "file", masked: isDenied(roots, path, "read") }];
}

function isDenied(roots: Roots, path: string, access: "read" | "write"): boolean {
  try {
    roots.mint(path, access);
    return false;
  } catch (error) {
    if (error instanceof Fault) return true;
    throw error;
  }
}

function heldByOthers(holders: string): Set<string> {
  const paths = new Set<string>();
  for (const file of list(holders))
    if (isHolderAlive(file)) for (const path of readLines(join(holders, file))) paths.add(path);
  return paths;
}

function isHolderAlive(file: string): boolean {
  const [pid, started] = file.split("-").map(Number);
  return isAlive(pid ?? 0, started ?? 0);
}

function readLines(file: string): string[] {
  try {
    return readFileSync(file, "utf8").split("\n").filter(Boolean);
  } catch {
    return [];
  }
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function removeEmpty(path: string): void {
  try {
    rmdirSync(path);
  } catch {
    // Not empty, not ours any more, or gone.
  }
}

function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

function isFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** The names that a recursive reader must keep out of, for their contents. */
export function hiddenNames(denied: readonly string[], roots: Roots, state_dir: string): string[] {
  const names = denied
    .filter((rule) => rule.startsWith("rw:"))
    .map((rule) =>
      rule
        .slice(3)
        .replace(/^\//, "")
        .replace(/\/(\*\*)?$/, ""),
    );
  const root = roots.list.find((folder) => inside(state_dir, folder));
  if (root !== undefined && state_dir !== root) names.push(state_dir.split("/").at(-1)!);
  return [...new Set(names)];
}
