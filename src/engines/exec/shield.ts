import {
  type Dirent,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join, relative } from "node:path";
import { compileDenied } from "../../base/path/denied.ts";
import { inside, type Roots } from "../../base/path/index.ts";
import { createPlaceholders, removeEmpty } from "./placeholders.ts";
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
  /** For a sandbox that writes nothing: only names that must not be read. */
  masks(): readonly Protected[];
  close(): void;
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
  const me = `${process.pid}-${startTime(process.pid) ?? 0}`;
  const own = join(holders, me);
  const placeholders = createPlaceholders(join(facts.state_dir, "exec", "spare", me));
  const tops = facts.roots.list.flatMap((root) =>
    rules.top.filter((name) => rules.denies(name, "write")).map((name) => join(root, name)),
  );
  const made = new Set<string>();
  let held = 0;
  let deeper: { at: number; names: Protected[] } | undefined;

  function acquire(): void {
    if (held++ > 0) return;
    const missing = tops.filter((path) => !exists(path));
    if (missing.length === 0) return;
    if (!exists(holders)) mkdirSync(holders, { recursive: true, mode: 0o700 });
    writeFileSync(own, missing.join("\n"), { mode: 0o600 });
    for (const path of missing) if (placeholders.place(path)) made.add(path);
  }

  function release(): void {
    if (--held > 0 || made.size === 0) return;
    removeFile(own);
    const others = heldByOthers(holders);
    for (const path of made) if (!others.has(path)) placeholders.remove(path);
    made.clear();
  }

  function names(): Protected[] {
    const now = performance.now();
    if (!deeper || now - deeper.at > KNOWN_FOR_MS)
      deeper = { at: now, names: facts.roots.list.flatMap((root) => search(facts, rules, root)) };
    const top = tops.flatMap((path) =>
      made.has(path) ? [{ path, kind: "folder" as const, masked: true }] : protect(facts, rules, path),
    );
    const state =
      facts.roots.contains(facts.state_dir) && exists(facts.state_dir)
        ? [{ path: facts.state_dir, kind: "folder" as const, masked: true }]
        : [];
    const all = [...top, ...deeper.names.filter((name) => exists(name.path)), ...state];
    return [...new Map(all.map((name) => [name.path, name])).values()];
  }

  return {
    close: placeholders.close,
    masks: () => names().filter((name) => name.masked && !made.has(name.path)),
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
  const spare = join(state_dir, "exec", "spare");
  for (const owner of list(spare).filter((name) => !isHolderAlive(name))) {
    for (const folder of list(join(spare, owner))) removeEmpty(join(spare, owner, folder));
    removeEmpty(join(spare, owner));
  }
}

interface Rules {
  /** Literal names at the top of a root. */
  readonly top: readonly string[];
  readonly lastNames: ReadonlySet<string>;
  readonly hasGlobs: boolean;
  /** By a path relative to its root. */
  denies(path: string, access: "read" | "write"): boolean;
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
  const compiled = compileDenied(denied);
  return {
    denies: (path, access) => compiled.rule(path, access) !== undefined,
    top: literal.filter((name) => !name.includes("/")),
    lastNames: new Set(literal.map((name) => name.split("/").at(-1)!.toLowerCase())),
    hasGlobs: literal.length < names.length,
  };
}

/** Names below the top of a root, as far down as is cheap; at the top itself only those that a pattern denies. */
function search(facts: ShieldFacts, rules: Rules, root: string): Protected[] {
  const found: Protected[] = [];
  let folders = [root];
  let visited = 0;
  for (let depth = 0; depth < DEPTH && folders.length > 0; depth++) {
    const next: string[] = [];
    for (const folder of folders) {
      if (visited++ >= MAX_FOLDERS) return found;
      for (const entry of entries(folder)) {
        const path = join(folder, entry.name);
        const candidate = rules.hasGlobs || rules.lastNames.has(entry.name.toLowerCase());
        if (candidate && rules.denies(relative(root, path), "write")) {
          if (depth > 0 || !rules.top.includes(entry.name)) found.push(...protect(facts, rules, path));
        } else if (entry.isDirectory() && !SKIPPED.has(entry.name) && path !== facts.state_dir) next.push(path);
      }
    }
    folders = next;
  }
  return found;
}

function protect(facts: ShieldFacts, rules: Rules, path: string): Protected[] {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  // A link cannot be covered by a mount, and following it would cover something else: what it leads to has its own rules.
  if (!stat || stat.isSymbolicLink()) return [];
  const root = facts.roots.list.find((folder) => inside(path, folder)) ?? "/";
  return [{ path, kind: stat.isDirectory() ? "folder" : "file", masked: rules.denies(relative(root, path), "read") }];
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

function entries(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

function removeFile(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // The state folder was removed under us.
  }
}

function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
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
