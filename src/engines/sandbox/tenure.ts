import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { Fault } from "../../base/fault.ts";
import { unguessableId } from "../../base/ids.ts";
import { type Live, notFound } from "./live.ts";
import type { SessionRow, SessionStore } from "./store.ts";

/** Who has a session, and for how long: never two at once. */
export interface Tenure {
  /** Between two calls it belongs to nobody: each call takes it, saves it and lets it go. */
  readonly is_per_call: boolean;
  /** In the hands of another that still lives. */
  isHeld(row: SessionRow): boolean;
  /** Before a session is used here for the first time. */
  adopt(row: SessionRow): Promise<number>;
  /** Around each use. The end of the use says whether the session was lost under way. */
  enter(session: Live, signal: AbortSignal): Promise<() => "held" | "lost">;
}

/** On one machine: the process that uses a session has it until it sleeps. Whether a process lives is plain to see. */
export function localTenure(store: () => Promise<SessionStore>): Tenure {
  const holder = `${process.pid}:${startOf(process.pid)}`;
  function isHeld(row: SessionRow): boolean {
    if (row.holder === null || row.holder === holder) return false;
    const [pid, start] = row.holder.split(":");
    return startOf(Number(pid)) === start;
  }
  return {
    is_per_call: false,
    isHeld,
    async adopt(row) {
      const fence = isHeld(row) ? undefined : await (await store()).take(row, holder, 0);
      if (fence === undefined)
        throw new Fault("resource_busy", `${row.session_id} is live in another server process.`, {
          hint: "Use it there, or copy nothing and create a new one.",
        });
      return fence;
    },
    enter: async () => () => "held",
  };
}

/** A replica that is silent for this long has lost its sessions. */
const LEASE_MS = 10_000;
const BEAT_MS = 1000;
/** How long a call waits for one that runs in the same session on another replica. */
const WAIT_MS = 30_000;
const LONGEST_PAUSE_MS = 100;

/** Among replicas: whoever runs code in a session holds a lease with a fence for the time of the call, and shows that it lives. */
export function sharedTenure(store: () => Promise<SessionStore>): Tenure {
  const holder = unguessableId("rep");
  const isHeld = (row: SessionRow) => row.holder !== null && row.holder !== holder && row.held_until > Date.now();

  async function taken(session: Live, signal: AbortSignal): Promise<{ row: SessionRow; fence: number }> {
    const db = await store();
    const end = Date.now() + WAIT_MS;
    for (let pause_ms = 5; ; pause_ms = Math.min(LONGEST_PAUSE_MS, pause_ms * 2)) {
      const row = await db.find(session.owner, session.session_id);
      if (!row) throw notFound(session.session_id);
      const fence = isHeld(row) ? undefined : await db.take(row, holder, Date.now() + LEASE_MS);
      if (fence !== undefined) return { row, fence };
      if (Date.now() > end)
        throw new Fault("resource_busy", `${session.session_id} is running on another replica.`, {
          hint: "Wait for that run, or cancel it.",
          retry_after_s: 2,
        });
      await sleep(pause_ms, undefined, { signal });
    }
  }

  return {
    is_per_call: true,
    isHeld,
    adopt: async () => -1,
    async enter(session, signal) {
      const { row, fence } = await taken(session, signal);
      if (row.fence !== session.fence) {
        // Another replica had it since: what we have in memory is old.
        session.guest?.end();
        session.guest = session.rescued = undefined;
        session.execution_count = row.execution_count;
        session.saved_count = row.saved_count;
      }
      session.fence = fence;
      let fate: "held" | "lost" = "held";
      const beat = async () => {
        const state = await (await store()).keep({ ...session, fence }, Date.now() + LEASE_MS);
        if (state === "lost") fate = "lost";
        if (state !== "held") session.cancel?.abort();
      };
      // A store that is away for a moment is told at the next beat; after LEASE_MS the fence decides.
      const timer = setInterval(() => void beat().catch(() => {}), BEAT_MS);
      return () => {
        clearInterval(timer);
        return fate;
      };
    },
  };
}

/** When a process began, as the kernel counts it: numbers are used again. */
function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
  } catch {
    return undefined;
  }
}
