import { Fault } from "../../../base/fault.ts";
import type { Store } from "../../../base/store/types.ts";
import type { createLeases, Wanted } from "./leases.ts";

/** Locks that were taken. */
export interface Hold {
  readonly fences: readonly number[];
  /**
   * Does the last step of a change in one transaction with the proof that the locks are still ours; then they are free, and the
   * journal's entry `entry` is ended. Once the step is taken it counts, also when the store fails right after it.
   */
  commit<T>(work: () => T, entry?: number): Promise<T>;
  /** The same proof for a change of several steps: the locks are renewed and stay. */
  confirm(): Promise<void>;
  /** Never fails: what cannot be released runs out. */
  release(): Promise<void>;
}

export function createHold(
  db: Store,
  leases: ReturnType<typeof createLeases>,
  wanted: readonly Wanted[],
  fences: readonly number[],
  endTurns: () => void,
): Hold {
  let isHeld = true;
  const end = () => {
    isHeld = false;
    endTurns();
  };

  async function commit<T>(work: () => T, entry?: number): Promise<T> {
    let done: { readonly value: T } | undefined;
    try {
      await db.transaction(async (tx) => {
        // A transaction that is begun again must not take the step twice.
        if (!done) {
          await leases.renew(tx, wanted, fences);
          done = { value: work() };
        }
        await leases.drop(tx, fences);
        if (entry !== undefined) await tx.run("DELETE FROM journal WHERE id = ?", entry);
      });
    } catch (error) {
      if (!done || !(error instanceof Fault && error.code === "store_unavailable")) throw error;
    }
    end();
    return done!.value;
  }

  return {
    fences,
    commit,
    confirm: () => db.transaction((tx) => leases.renew(tx, wanted, fences)),
    async release() {
      if (!isHeld) return;
      end();
      await leases.drop(db, fences).catch(() => {});
    },
  };
}
