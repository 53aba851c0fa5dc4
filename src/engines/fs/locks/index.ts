/** MAASL: leases that writers in all processes hold on what they change, each with a fence that only grows. */
import { setTimeout as sleep } from "node:timers/promises";
import { Fault } from "../../../base/fault.ts";
import type { Store } from "../../../base/store/types.ts";
import { visible } from "../../../base/text.ts";
import { byBytes } from "../list.ts";
import type { MaaslOptions } from "../options.ts";
import type { ProcessMark } from "../process.ts";
import { CLASSES, classOf, type LockClass, resourceOf } from "./classes.ts";
import { createHold, type Hold } from "./hold.ts";
import { createLeases, type LeaseRow, type Wanted } from "./leases.ts";
import { createTurns } from "./turns.ts";

export type { Hold } from "./hold.ts";

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

export interface Locks {
  take(targets: readonly LockTarget[], holder: string, signal: AbortSignal): Promise<Hold>;
  list(): Promise<Lease[]>;
}

/** `onTakeover` runs before locks are taken from one who is gone: what he left half done under these fences is settled first. */
export function createLocks(
  options: MaaslOptions,
  db: Store,
  here: ProcessMark,
  onTakeover: (fences: readonly number[]) => Promise<void>,
): Locks {
  const turns = createTurns();
  const leases = createLeases(db, here);

  function wantedOf(target: LockTarget & { readonly resource: string; readonly tree: boolean }): Wanted {
    const name = classOf(target.real);
    const { resource, shown, tree } = target;
    return { resource, shown, tree, class: name, lease_ms: options.lease_s * 1000 * CLASSES[name].lease };
  }

  /** Polls with pauses that grow, until they are ours or the wait is over. */
  async function acquired(
    wanted: readonly Wanted[],
    holder: string,
    deadline: number,
    signal: AbortSignal,
  ): Promise<readonly number[]> {
    let settled: readonly number[] = [];
    for (let pause_ms = 1; ; ) {
      signal.throwIfAborted();
      const result = await leases.attempt(wanted, holder, settled);
      if ("fences" in result) return result.fences;
      if ("left" in result) {
        await onTakeover(result.left);
        settled = [...settled, ...result.left];
        continue;
      }
      const { busy } = result;
      if (Date.now() >= deadline) throw refusal(wanted.find((target) => concerns(target, busy)) ?? wanted[0]!, busy);
      const pause = Math.min(pause_ms * (0.5 + Math.random()), Math.max(1, deadline - Date.now()));
      await sleep(pause, undefined, { signal });
      pause_ms = Math.min(15, pause_ms * 2);
    }
  }

  async function take(targets: readonly LockTarget[], holder: string, signal: AbortSignal): Promise<Hold> {
    const wanted = distinct(targets).map(wantedOf);
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
        if (!end) throw refusal(target, await leases.first(target));
        ends.push(end);
      }
      const fences = await acquired(wanted, holder, deadline, signal);
      return createHold(db, leases, wanted, fences, endTurns);
    } catch (error) {
      endTurns();
      throw error;
    }
  }

  return {
    take,
    list: async () =>
      (await leases.list()).map((row) => ({
        resource: row.resource,
        class: row.class,
        holder: row.holder,
        since: new Date(row.since_ms).toISOString(),
        expires: new Date(row.expires_ms).toISOString(),
      })),
  };
}

/** In one order for everyone, so that two who want the same ones never wait for each other. */
function distinct(
  targets: readonly LockTarget[],
): (LockTarget & { readonly resource: string; readonly tree: boolean })[] {
  const byResource = new Map<string, LockTarget & { readonly resource: string; readonly tree: boolean }>();
  for (const target of targets) {
    const resource = resourceOf(target.real);
    byResource.set(resource, { ...target, resource, tree: target.tree || byResource.get(resource)?.tree || false });
  }
  return [...byResource.values()].sort((a, b) => byBytes(a.resource, b.resource));
}

function concerns(target: Wanted, row: LeaseRow): boolean {
  return (
    row.resource === target.resource ||
    row.resource.startsWith(`${target.resource}/`) ||
    target.resource.startsWith(`${row.resource}/`)
  );
}

function refusal(target: Wanted, row: LeaseRow | undefined): Fault {
  const who = row
    ? `held by ${visible(row.holder)} since ${new Date(row.since_ms).toISOString()}`
    : "others wait for it too";
  return new Fault("resource_busy", `${visible(target.shown)} is being changed: ${who}.`, {
    hint: "Nothing was changed; try again.",
    retry_after_s: 1,
  });
}
