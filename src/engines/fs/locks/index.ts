/** MAASL: leases that writers in all processes hold on what they change, each with a fence that only grows. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Db } from "../../../base/db.ts";
import { Fault } from "../../../base/fault.ts";
import { visible } from "../../../base/text.ts";
import { byBytes } from "../list.ts";
import type { MaaslOptions } from "../options.ts";
import { isDead, type ProcessMark } from "../process.ts";
import { CLASSES, classOf, type LockClass, resourceOf } from "./classes.ts";
import { createTurns } from "./turns.ts";

export interface Lease {
  readonly resource: string;
  readonly class: LockClass;
  readonly holder: string;
  readonly since: string;
  readonly expires: string;
}

export interface LockTarget {
  readonly real: string;
  readonly shown: string;
  /** A folder that is moved or removed: nothing below it may be in another's hands. */
  readonly tree?: boolean;
}

export interface Hold {
  /** Does the last step of a change in one transaction with the proof that the locks are still ours; then they are free. */
  commit<T>(work: () => T): T;
  /** The same proof for a change of several steps: the locks are renewed and stay. */
  confirm(): void;
  release(): void;
}

export interface Locks {
  take(targets: readonly LockTarget[], holder: string, signal: AbortSignal): Promise<Hold>;
  list(): Lease[];
}

interface Row {
  readonly fence: number;
  readonly resource: string;
  readonly class: LockClass;
  readonly holder: string;
  readonly pid: number;
  readonly started: string;
  readonly place: string;
  readonly since_ms: number;
  readonly expires_ms: number;
}

interface Wanted extends LockTarget {
  readonly resource: string;
  readonly class: LockClass;
  readonly lease_ms: number;
}

const CONFLICTS = `SELECT * FROM leases WHERE resource = ?1
  OR (tree AND substr(?1, 1, length(resource) + 1) = resource || '/')
  OR (?2 AND substr(resource, 1, length(?1) + 1) = ?1 || '/')`;
const INSERT = `INSERT INTO leases (resource, class, tree, holder, pid, started, place, since_ms, expires_ms)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING fence`;

/** `onTakeover` runs before a lock is taken from one who is gone: what he left half done is settled first. */
export function createLocks(options: MaaslOptions, db: Db, here: ProcessMark, onTakeover: () => void): Locks {
  const turns = createTurns();
  const isFree = (row: Row) => row.expires_ms <= Date.now() || isDead(row, here, row.since_ms);
  const conflicts = (target: Wanted) => db.all<Row>(CONFLICTS, target.resource, target.tree ? 1 : 0);
  db.run("DELETE FROM leases WHERE expires_ms <= ?", Date.now());

  /** All of them or none, in one transaction, in order. */
  function attempt(wanted: readonly Wanted[], holder: string): number[] | Row {
    for (const target of wanted) {
      const rows = conflicts(target);
      const busy = rows.find((row) => !isFree(row));
      if (busy) return busy;
      if (rows.length > 0) onTakeover();
    }
    return db.transaction(() => {
      const fences: number[] = [];
      for (const target of wanted) {
        for (const row of conflicts(target)) {
          if (!isFree(row)) {
            for (const fence of fences) db.run("DELETE FROM leases WHERE fence = ?", fence);
            return row;
          }
          db.run("DELETE FROM leases WHERE fence = ?", row.fence);
        }
        fences.push(insert(target, holder));
      }
      return fences;
    });
  }

  function insert(target: Wanted, holder: string): number {
    const now = Date.now();
    const { pid, started, place } = here;
    const values = [target.resource, target.class, target.tree ? 1 : 0, holder, pid, started, place, now] as const;
    return db.get<{ fence: number }>(INSERT, ...values, now + target.lease_ms)!.fence;
  }

  function renew(wanted: readonly Wanted[], fences: readonly number[]): void {
    fences.forEach((fence, index) => {
      const { lease_ms, shown } = wanted[index]!;
      const { changes } = db.run("UPDATE leases SET expires_ms = ? WHERE fence = ?", Date.now() + lease_ms, fence);
      if (changes === 0)
        throw new Fault(
          "resource_busy",
          `The lock on ${visible(shown)} ran out before the change was done; nothing was changed.`,
        );
    });
  }

  function drop(fences: readonly number[]): void {
    for (const fence of fences) db.run("DELETE FROM leases WHERE fence = ?", fence);
  }

  function held(wanted: readonly Wanted[], fences: readonly number[], endTurns: () => void): Hold {
    let isHeld = true;
    const end = () => {
      isHeld = false;
      endTurns();
    };
    return {
      commit(work) {
        const value = db.transaction(() => {
          renew(wanted, fences);
          const done = work();
          drop(fences);
          return done;
        });
        end();
        return value;
      },
      confirm: () => db.transaction(() => renew(wanted, fences)),
      release() {
        if (!isHeld) return;
        end();
        db.transaction(() => drop(fences));
      },
    };
  }

  async function take(targets: readonly LockTarget[], holder: string, signal: AbortSignal): Promise<Hold> {
    const wanted = distinct(targets).map((target) => {
      const name = classOf(target.real);
      return { ...target, class: name, lease_ms: options.lease_s * 1000 * CLASSES[name].lease };
    });
    const wait_ms =
      wanted.length > 1
        ? options.batch_wait_ms
        : options.wait_ms * Math.max(...wanted.map((target) => CLASSES[target.class].wait));
    const deadline = Date.now() + wait_ms;
    const ends: (() => void)[] = [];
    const endTurns = () => {
      for (const end of ends.splice(0)) end();
    };
    try {
      for (const target of wanted) {
        const end = await turns.take(target.resource, Math.max(0, deadline - Date.now()), signal);
        if (!end) throw busy(target, conflicts(target)[0]);
        ends.push(end);
      }
      for (let pause_ms = 1; ; pause_ms = Math.min(15, pause_ms * 2)) {
        signal.throwIfAborted();
        const result = attempt(wanted, holder);
        if (Array.isArray(result)) return held(wanted, result, endTurns);
        if (Date.now() >= deadline) throw busy(wanted.find((target) => concerns(target, result)) ?? wanted[0]!, result);
        await sleep(Math.min(pause_ms * (0.5 + Math.random()), Math.max(1, deadline - Date.now())), undefined, {
          signal,
        });
      }
    } catch (error) {
      endTurns();
      throw error;
    }
  }

  return {
    take,
    list: () =>
      db
        .all<Row>("SELECT * FROM leases ORDER BY resource")
        .filter((row) => !isFree(row))
        .map((row) => ({
          resource: row.resource,
          class: row.class,
          holder: row.holder,
          since: new Date(row.since_ms).toISOString(),
          expires: new Date(row.expires_ms).toISOString(),
        })),
  };
}

/** In one order for everyone, so that two who want the same ones never wait for each other. */
function distinct(targets: readonly LockTarget[]): (LockTarget & { resource: string })[] {
  const byResource = new Map<string, LockTarget & { resource: string }>();
  for (const target of targets) {
    const resource = resourceOf(target.real);
    byResource.set(resource, { ...target, resource, tree: target.tree || byResource.get(resource)?.tree || false });
  }
  return [...byResource.values()].sort((a, b) => byBytes(a.resource, b.resource));
}

function concerns(target: Wanted, row: Row): boolean {
  return (
    row.resource === target.resource ||
    row.resource.startsWith(`${target.resource}/`) ||
    target.resource.startsWith(`${row.resource}/`)
  );
}

function busy(target: LockTarget, row: Row | undefined): Fault {
  const who = row
    ? `held by ${visible(row.holder)} since ${new Date(row.since_ms).toISOString()}`
    : "others wait for it too";
  return new Fault("resource_busy", `${visible(target.shown)} is being changed: ${who}.`, {
    hint: "Nothing was changed; try again.",
    retry_after_s: 1,
  });
}
