import { lstatSync } from "node:fs";
import { join, relative } from "node:path";
import { Fault } from "../../base/fault.ts";
import { inside, type Roots } from "../../base/path/index.ts";
import { createDeniedNames, readRules } from "./denied-names.ts";
import { createHolders, type Dead, type Holders, list } from "./holders.ts";
import { createPlaceholders, removeEmpty } from "./placeholders.ts";
import { quarantine } from "./quarantine.ts";

export interface Protected {
  readonly path: string;
  readonly kind: "file" | "folder";
  /** Neither to be read nor written, instead of only not written. */
  readonly masked: boolean;
}

export interface Held {
  readonly names: readonly Protected[];
  /** Once the sandbox has ended. Answers with denied names that it made, which are gone from the roots now. */
  release(): Promise<string[]>;
}

export interface Shield {
  /** Names in the roots that a sandbox must not write, there now or not. Hold them while the sandbox lives. */
  hold(): Promise<Held>;
  /** For a sandbox that writes nothing: only names that must not be read. */
  masks(): Promise<readonly Protected[]>;
  /** What a server that is killed leaves for its watchdog to mark. */
  readonly holder: string;
  close(): void;
}

interface ShieldFacts {
  readonly roots: Roots;
  /** The rules as written: `.git`, `rw:.llmc`, `!.llmc/stubs`. */
  readonly denied: readonly string[];
  readonly state_dir: string;
}

/** Mounts that one sandbox can bear. */
const MAX_NAMES = 2000;

/**
 * A mount can only cover what exists. So a denied name that is missing at the top of a root is made as an empty folder while
 * sandboxes run, and removed with rmdir, which cannot destroy anything. Further down there are too many places for that: what a sandbox
 * makes there is moved away when the last one has ended. Other servers on the same root are asked first, through files in the state folder.
 */
export function createShield(facts: ShieldFacts): Shield {
  const { state_dir, roots } = facts;
  const rules = readRules(facts.denied);
  const present = createDeniedNames(roots.list, rules, state_dir);
  const holders = createHolders(join(state_dir, "exec", "holders"));
  const placeholders = createPlaceholders(join(state_dir, "exec", "spare", holders.me));
  const tops = new Set(
    roots.list.flatMap((root) =>
      rules.top.filter((name) => rules.denies(name, "write")).map((name) => join(root, name)),
    ),
  );
  const made = new Set<string>();
  const swept = sweep(holders.takeDead());
  let held = 0;
  let known: ReadonlySet<string> = new Set();

  async function sweep(dead: readonly Dead[]): Promise<void> {
    sweepPlaceholders(state_dir, holders, dead);
    for (const { known: before, since_ms, died_ms } of dead) {
      if (died_ms === undefined) continue;
      const names = [...(await present.look().catch(() => []))];
      const own = (path: string) => isBetween(lstatSync(path, { throwIfNoEntry: false })?.ctimeMs, since_ms, died_ms);
      quarantine(
        names.filter((path) => !before.includes(path) && !tops.has(path) && own(path)),
        state_dir,
      );
    }
  }

  function acquire(now: ReadonlySet<string>): void {
    if (held++ > 0) return;
    known = now;
    const missing = [...tops].filter((path) => !exists(path));
    holders.write({ since_ms: Date.now(), placed: missing, known: [...now] });
    for (const path of missing) if (placeholders.place(path)) made.add(path);
  }

  async function release(): Promise<string[]> {
    if (--held > 0) return [];
    const others = holders.others();
    for (const path of made) if (!others.has(path)) placeholders.remove(path);
    made.clear();
    const before = known;
    try {
      const now = await present.look();
      // Another sandbox began meanwhile: what is new is for its end to judge, and for that it must not count as known.
      if (held > 0) {
        known = before;
        return [];
      }
      const names = [...now].filter((path) => !before.has(path) && !tops.has(path));
      return quarantine(names, state_dir).map((path) => roots.shown(path));
    } finally {
      if (held === 0) holders.remove();
    }
  }

  function covered(now: ReadonlySet<string>): Protected[] {
    const top = [...tops].flatMap((path) =>
      made.has(path) ? [{ path, kind: "folder" as const, masked: true }] : protect(path),
    );
    const state =
      roots.contains(state_dir) && exists(state_dir)
        ? [{ path: state_dir, kind: "folder" as const, masked: true }]
        : [];
    const all = [...top, ...[...now].filter((path) => !made.has(path)).flatMap(protect), ...state];
    const unique = [...new Map(all.map((name) => [name.path, name])).values()];
    if (unique.length > MAX_NAMES)
      throw new Fault("isolation_required", `The roots hold more than ${MAX_NAMES} denied names: too many to cover.`, {
        hint: "Lift those that are meant to be written in mcp.tools.denied_paths (`!name`), or narrow allowed_roots.",
      });
    return unique;
  }

  function protect(path: string): Protected[] {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    // A link cannot be covered by a mount, and following it would cover something else: what it leads to has its own rules.
    if (!stat || stat.isSymbolicLink()) return [];
    const root = roots.list.find((folder) => inside(path, folder)) ?? "/";
    return [{ path, kind: stat.isDirectory() ? "folder" : "file", masked: rules.denies(relative(root, path), "read") }];
  }

  return {
    holder: holders.own,
    close: placeholders.close,
    async masks() {
      await swept;
      const now = await present.look();
      return covered(now).filter((name) => name.masked && !made.has(name.path));
    },
    async hold() {
      await swept;
      const now = await present.look();
      acquire(now);
      let released: Promise<string[]> | undefined;
      const once = () => (released ??= release());
      try {
        return { names: covered(now), release: once };
      } catch (error) {
        await once();
        throw error;
      }
    },
  };
}

/** Placeholders of servers that were killed. */
function sweepPlaceholders(state_dir: string, holders: Holders, dead: readonly Dead[]): void {
  const others = holders.others();
  for (const path of dead.flatMap(({ placed }) => placed)) if (!others.has(path)) removeEmpty(path);
  const spare = join(state_dir, "exec", "spare");
  for (const owner of list(spare).filter((name) => !holders.isAlive(name))) {
    for (const folder of list(join(spare, owner))) removeEmpty(join(spare, owner, folder));
    removeEmpty(join(spare, owner));
  }
}

function isBetween(time: number | undefined, first: number, last: number): boolean {
  // A tick of the kernel's clock for files either way.
  return time !== undefined && time >= first - 20 && time <= last + 20;
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
