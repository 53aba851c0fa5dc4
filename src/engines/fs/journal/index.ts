/** What is about to be done to files, written down first: what a killed process left half done is ended or undone by the next. */
import { randomBytes } from "node:crypto";
import { resolve } from "node:path";
import type { Store } from "../../../base/store/types.ts";
import { fateOf, type ProcessMark } from "../process.ts";
import { back, type Deed, type DirRef, finish, forward, unstage } from "./deeds.ts";

export { back, type Deed, type DirRef, finish, forward, giveName, refOf, unstage, versionOf } from "./deeds.ts";

/** Up to here the bytes of an append are kept too, so that recovery knows them from those of others. */
const KEPT_BYTES = 64 * 1024;

/** `staged`: undone after a crash. `committed`: ended after a crash. */
export type JournalState = "staged" | "committed";

export interface Journal {
  /** `under`: the locks under which it is done. Whoever takes them over settles the entry first. */
  begin(
    under: { readonly fences: readonly number[] },
    state: JournalState,
    deeds: readonly Deed[],
    bytes?: Uint8Array,
  ): Promise<number>;
  /** From here on a crash leads to the new state. */
  commit(id: number): Promise<void>;
  /** Never fails: an entry that stays is found done by the next process. */
  end(id: number): Promise<void>;
}

interface Row extends ProcessMark {
  readonly id: number;
  readonly state: JournalState;
  readonly deeds: string;
  readonly bytes: Uint8Array | null;
  readonly at_ms: number;
  /** As JSON. */
  readonly fences: string;
}

const INSERT =
  "INSERT INTO journal (state, deeds, bytes, pid, started, place, at_ms, fences) VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING id";

export function createJournal(db: Store, here: ProcessMark): Journal {
  return {
    async begin({ fences }, state, deeds, bytes) {
      const kept = bytes && bytes.length <= KEPT_BYTES ? bytes : null;
      const { pid, started, place } = here;
      const mark = [pid, started, place, Date.now(), JSON.stringify(fences)] as const;
      return (await db.get<{ id: number }>(INSERT, state, JSON.stringify(deeds), kept, ...mark))!.id;
    },
    commit: async (id) => void (await db.run("UPDATE journal SET state = 'committed' WHERE id = ?", id)),
    end: async (id) => void (await db.run("DELETE FROM journal WHERE id = ?", id).catch(() => {})),
  };
}

/** An entry of a process that cannot be seen from here, and whose locks are gone, is given this long. */
const UNSEEN_MS = 20_000;

/**
 * Ends or undoes what dead processes left. Gives how many changes that were. The journal lies in a repository, which may have
 * come with one: an entry is followed only where a tool could have made it, inside the roots and under names of our making.
 */
export async function recover(
  db: Store,
  here: ProcessMark,
  contains: (path: string) => boolean,
  /** Locks that are about to be taken from one who is gone. */
  taken: readonly number[],
): Promise<number> {
  const rows = await db.all<Row>("SELECT * FROM journal ORDER BY id");
  if (rows.length === 0) return 0;
  const dead = rows.filter(await judge(db, here, taken));
  let settled = 0;
  for (const row of dead) {
    const deeds = JSON.parse(row.deeds) as Deed[];
    if (!deeds.every((deed) => isOurs(deed, contains))) continue;
    if (!(await claim(db, row, here)) || !settle(row, deeds)) continue;
    await db.run("DELETE FROM journal WHERE id = ?", row.id);
    settled++;
  }
  return settled;
}

/** Whether an entry was left: its process is gone, or it cannot be seen and holds no lock any more. */
async function judge(db: Store, here: ProcessMark, taken: readonly number[]): Promise<(row: Row) => boolean> {
  const now = Date.now();
  const held = await db.all<{ fence: number }>("SELECT fence FROM leases WHERE expires_ms > ?", now);
  const live = new Set(held.map(({ fence }) => fence));
  return (row) => {
    const fate = fateOf(row, here);
    if (fate !== "unseen") return fate === "gone";
    const fences = JSON.parse(row.fences) as number[];
    if (fences.some((fence) => taken.includes(fence))) return true;
    return !fences.some((fence) => live.has(fence)) && now - row.at_ms > UNSEEN_MS;
  };
}

function isOurs(deed: Deed, contains: (path: string) => boolean): boolean {
  const { dir, to, name, to_name, temp, spare } = deed as Partial<Record<string, unknown>> & {
    dir: DirRef;
    to?: DirRef;
  };
  const isPlain = (word: unknown) => typeof word === "string" && !word.includes("/") && !/^\.{0,2}$/.test(word);
  return (
    [dir, ...(to ? [to] : [])].every(({ path }) => resolve(path) === path && contains(path)) &&
    [name, to_name].every((word) => word === undefined || isPlain(word)) &&
    [temp, spare].every((word) => word === undefined || (isPlain(word) && TEMP_NAME.test(word as string)))
  );
}

/** Of several processes that start at once, one settles the entry; should it die too, the next one does. */
async function claim(db: Store, row: Row, here: ProcessMark): Promise<boolean> {
  const { changes } = await db.run(
    "UPDATE journal SET pid = ?, started = ?, place = ? WHERE id = ? AND pid = ? AND started = ?",
    here.pid,
    here.started,
    here.place,
    row.id,
    row.pid,
    row.started,
  );
  return changes === 1;
}

/** False when the disk refuses: the entry stays for the next start. */
function settle(row: Row, deeds: readonly Deed[]): boolean {
  try {
    if (row.state === "staged") for (const deed of deeds.toReversed()) unstage(deed, row.bytes ?? undefined);
    else if (tryForward(deeds)) deeds.forEach(finish);
    else deeds.toReversed().forEach(back);
    return true;
  } catch {
    return false;
  }
}

function tryForward(deeds: readonly Deed[]): boolean {
  try {
    deeds.forEach(forward);
    return true;
  } catch {
    return false;
  }
}

const TEMP_NAME = /^\.llmc-[0-9a-f]{18}\.tmp$/;

/** A name beside the file that nobody uses and everybody can tell. */
export function tempName(): string {
  return `.llmc-${randomBytes(9).toString("hex")}.tmp`;
}
