/** What is about to be done to files, written down first: what a killed process left half done is ended or undone by the next. */
import { randomBytes } from "node:crypto";
import { resolve } from "node:path";
import type { Db } from "../../../base/db.ts";
import { isDead, type ProcessMark } from "../process.ts";
import { back, type Deed, type DirRef, finish, forward, unstage } from "./deeds.ts";

export { back, type Deed, type DirRef, finish, forward, giveName, refOf, unstage, versionOf } from "./deeds.ts";

/** Up to here the bytes of an append are kept too, so that recovery knows them from those of others. */
const KEPT_BYTES = 64 * 1024;

/** `staged`: undone after a crash. `committed`: ended after a crash. */
export type JournalState = "staged" | "committed";

export interface Journal {
  begin(state: JournalState, deeds: readonly Deed[], bytes?: Uint8Array): number;
  /** From here on a crash leads to the new state. */
  commit(id: number): void;
  end(id: number): void;
}

interface Row extends ProcessMark {
  readonly id: number;
  readonly state: JournalState;
  readonly deeds: string;
  readonly bytes: Uint8Array | null;
  readonly at_ms: number;
}

export function createJournal(db: Db, here: ProcessMark): Journal {
  return {
    begin(state, deeds, bytes) {
      const kept = bytes && bytes.length <= KEPT_BYTES ? bytes : null;
      return db.get<{ id: number }>(
        `INSERT INTO journal (state, deeds, bytes, pid, started, place, at_ms) VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING id`,
        state,
        JSON.stringify(deeds),
        kept,
        here.pid,
        here.started,
        here.place,
        Date.now(),
      )!.id;
    },
    commit: (id) => void db.run("UPDATE journal SET state = 'committed' WHERE id = ?", id),
    end: (id) => void db.run("DELETE FROM journal WHERE id = ?", id),
  };
}

/**
 * Ends or undoes what dead processes left. Gives how many changes that were. The journal lies in a repository, which may have
 * come with one: an entry is followed only where a tool could have made it, inside the roots and under names of our making.
 */
export function recover(db: Db, here: ProcessMark, contains: (path: string) => boolean): number {
  const dead = db.all<Row>("SELECT * FROM journal ORDER BY id").filter((row) => isDead(row, here, row.at_ms));
  let settled = 0;
  for (const row of dead) {
    const deeds = JSON.parse(row.deeds) as Deed[];
    if (!deeds.every((deed) => isOurs(deed, contains))) continue;
    if (!claim(db, row, here) || !settle(row, deeds)) continue;
    db.run("DELETE FROM journal WHERE id = ?", row.id);
    settled++;
  }
  return settled;
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
function claim(db: Db, row: Row, here: ProcessMark): boolean {
  const { changes } = db.run(
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
