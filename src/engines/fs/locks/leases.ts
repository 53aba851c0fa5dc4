import { Fault } from "../../../base/fault.ts";
import type { Statements, Store } from "../../../base/store/types.ts";
import { visible } from "../../../base/text.ts";
import { fateOf, type ProcessMark } from "../process.ts";
import type { LockClass } from "./classes.ts";

export interface LeaseRow extends ProcessMark {
  readonly fence: number;
  readonly resource: string;
  readonly class: LockClass;
  readonly holder: string;
  readonly since_ms: number;
  readonly expires_ms: number;
}

/** What is wanted, for how long. */
export interface Wanted {
  readonly resource: string;
  readonly shown: string;
  readonly class: LockClass;
  readonly tree: boolean;
  readonly lease_ms: number;
}

type Taken =
  | { readonly fences: readonly number[] }
  | { readonly busy: LeaseRow }
  | { readonly left: readonly number[] };

const CONFLICTS = `SELECT * FROM leases WHERE resource = ?
  OR (tree = 1 AND substr(CAST(? AS TEXT), 1, length(resource) + 1) = resource || '/')
  OR (CAST(? AS INTEGER) = 1 AND substr(resource, 1, length(CAST(? AS TEXT))) = CAST(? AS TEXT))`;
const INSERT = `INSERT INTO leases (resource, class, tree, holder, pid, started, place, since_ms, expires_ms)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING fence`;
const TAKE_ONE = "SELECT lease_taken(?, ?, ?, ?, ?, ?, ?, ?, ?, ?) AS fence";
const DROP = "DELETE FROM leases WHERE fence = ?";
/** Whoever takes leases looks first and then writes: one at a time. Any number will do. */
const TAKING = 7_716_002;

/** The leases of all processes as rows. Fences come from a counter that never goes back. */
export function createLeases(db: Store, here: ProcessMark) {
  const isFree = (row: LeaseRow) => row.expires_ms <= Date.now() || fateOf(row, here) === "gone";

  function conflicts(tx: Statements, { resource, tree }: Wanted): Promise<LeaseRow[]> {
    return tx.all<LeaseRow>(CONFLICTS, resource, resource, tree ? 1 : 0, `${resource}/`, `${resource}/`);
  }

  /** Lost to whoever renewed it between our look and now. */
  async function clear(tx: Statements, row: LeaseRow): Promise<boolean> {
    return (await tx.run(`${DROP} AND expires_ms = ?`, row.fence, row.expires_ms)).changes === 1;
  }

  async function insert(tx: Statements, target: Wanted, holder: string): Promise<number> {
    const now = Date.now();
    const { pid, started, place } = here;
    const values = [target.resource, target.class, target.tree ? 1 : 0, holder, pid, started, place, now] as const;
    return (await tx.get<{ fence: number }>(INSERT, ...values, now + target.lease_ms))!.fence;
  }

  /** All of them or none. `left`: leases of processes that are gone stand in the way; `settled` are those that may be cleared. */
  async function attempt(
    tx: Statements,
    wanted: readonly Wanted[],
    holder: string,
    settled: readonly number[],
  ): Promise<Taken> {
    const rows: LeaseRow[] = [];
    for (const target of wanted) rows.push(...(await conflicts(tx, target)));
    const busy = rows.find((row) => !isFree(row));
    if (busy) return { busy };
    const left = rows.map(({ fence }) => fence).filter((fence) => !settled.includes(fence));
    if (left.length > 0) return { left };
    for (const row of new Map(rows.map((row) => [row.fence, row])).values())
      if (!(await clear(tx, row))) return { busy: row };
    const fences: number[] = [];
    for (const target of wanted) fences.push(await insert(tx, target, holder));
    return { fences };
  }

  /** PostgreSQL is a way off: the usual case takes one round trip there. */
  async function takenAtOnce(target: Wanted, holder: string): Promise<number | null> {
    const { pid, started, place } = here;
    const now = Date.now();
    const what = [TAKING, target.resource, target.class, target.tree ? 1 : 0] as const;
    const values = [...what, holder, pid, started, place, now, now + target.lease_ms] as const;
    return (await db.get<{ fence: number | null }>(TAKE_ONE, ...values))!.fence;
  }

  return {
    async attempt(wanted: readonly Wanted[], holder: string, settled: readonly number[]): Promise<Taken> {
      const [first, ...rest] = wanted;
      const fence = db.backend === "postgres" && rest.length === 0 ? await takenAtOnce(first!, holder) : null;
      if (fence !== null) return { fences: [fence] };
      return db.transaction((tx) => attempt(tx, wanted, holder, settled), { serial: TAKING });
    },

    /** Who stands in the way. */
    first: async (target: Wanted): Promise<LeaseRow | undefined> => (await conflicts(db, target))[0],

    /** The proof that they are still ours; others wait until the transaction ends. */
    async renew(tx: Statements, wanted: readonly Wanted[], fences: readonly number[]): Promise<void> {
      for (const [index, fence] of fences.entries()) {
        const { lease_ms, shown } = wanted[index]!;
        const sql = "UPDATE leases SET expires_ms = ? WHERE fence = ?";
        const { changes } = await tx.run(sql, Date.now() + lease_ms, fence);
        if (changes === 0)
          throw new Fault(
            "resource_busy",
            `The lock on ${visible(shown)} ran out before the change was done; nothing was changed.`,
          );
      }
    },

    async drop(tx: Statements, fences: readonly number[]): Promise<void> {
      for (const fence of fences) await tx.run(DROP, fence);
    },

    list: async (): Promise<LeaseRow[]> =>
      (await db.all<LeaseRow>("SELECT * FROM leases ORDER BY resource")).filter((row) => !isFree(row)),
  };
}
