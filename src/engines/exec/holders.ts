import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isAlive, startTime } from "./proc.ts";

/** What a server writes down while its sandboxes run: for other servers on the same root, and for the next one if it is killed. */
export interface Holding {
  readonly since_ms: number;
  /** Names for which it put placeholders. */
  readonly placed: readonly string[];
  /** Denied names that were there before. */
  readonly known: readonly string[];
}

export interface Dead extends Holding {
  /** When its watchdog saw it die; undefined when nobody did. */
  readonly died_ms: number | undefined;
}

export interface Holders {
  /** The name of this server among them. */
  readonly me: string;
  /** What the watchdog leaves behind, if it finds `own` still there. */
  readonly own: string;
  write(holding: Holding): void;
  remove(): void;
  /** Names that other living servers hold. */
  others(): Set<string>;
  /** Takes what killed servers left. */
  takeDead(): Dead[];
  isAlive(name: string): boolean;
}

const DIED = ".died";

export function createHolders(folder: string): Holders {
  const me = `${process.pid}-${startTime(process.pid) ?? 0}`;
  const own = join(folder, me);
  let isThere = false;
  return {
    me,
    own,
    write(holding) {
      if (!isThere) mkdirSync(folder, { recursive: true, mode: 0o700 });
      isThere = true;
      writeFileSync(own, JSON.stringify(holding), { mode: 0o600 });
    },
    remove() {
      try {
        unlinkSync(own);
      } catch {
        // The state folder was removed under us.
        isThere = false;
      }
    },
    others() {
      const names = list(folder).filter((name) => name !== me && isHolderAlive(name));
      return new Set(names.flatMap((name) => read(join(folder, name)).placed));
    },
    takeDead() {
      return list(folder)
        .filter((name) => !name.endsWith(DIED) && !isHolderAlive(name))
        .map((name) => {
          const dead = { ...read(join(folder, name)), died_ms: changed(join(folder, name + DIED)) };
          for (const file of [name, name + DIED]) rmSync(join(folder, file), { force: true });
          return dead;
        });
    },
    isAlive: isHolderAlive,
  };
}

function isHolderAlive(name: string): boolean {
  const [pid, started] = name.split("-").map(Number);
  return isAlive(pid ?? 0, started ?? 0);
}

function read(file: string): Holding {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as Holding;
  } catch {
    // Killed while it wrote: then no sandbox had started yet.
    return { since_ms: Number.POSITIVE_INFINITY, placed: [], known: [] };
  }
}

function changed(file: string): number | undefined {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs;
}

export function list(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
