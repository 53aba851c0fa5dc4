import type { Statements, Store } from "../../base/store/types.ts";
import { free, freeAbandoned, release } from "./blobs.ts";
import type { HandlesOptions } from "./options.ts";
import { runs } from "./runner.ts";

const SWEEP_EVERY_MS = 60_000;
/** Victims looked at in one query. */
const SOME = 16;

/** A store that is a round trip away is asked this seldom while more room is left than can be filled meanwhile. */
const UNASKED_MS = 250;
const ROOM_HANDLES = 1000;
const ROOM_BYTES = 256 * 1024 ** 2;

/** Any number will do, as long as every llmc takes the same. */
const EVICTING = 7_716_003;

type Victim = { readonly id: string; readonly blob: number | null };

export interface Limits {
  /** Takes expired handles away, then the oldest ones until count and bytes fit. Running jobs stay, and so does `keep`. */
  enforce(db: Store, keep?: string): Promise<void>;
}

export function createLimits(options: HandlesOptions, runner: string): Limits {
  let swept_ms = 0;
  let roomy_until = 0;

  async function expire(db: Store, now: number): Promise<void> {
    const expired = "SELECT id, blob FROM handle WHERE expires_ms <= ? AND state != 'running' LIMIT ?";
    for (;;) {
      const some = await db.all<Victim>(expired, now, SOME);
      if (some.length === 0) return;
      for (const victim of some) await remove(db, victim);
    }
  }

  async function evict(db: Store, keep: string): Promise<void> {
    if (db.backend === "postgres" && Date.now() < roomy_until) return;
    const oldest = "SELECT id, blob FROM handle WHERE state != 'running' AND id != ? ORDER BY rank LIMIT 1";
    while (await over(db)) {
      // Looked at again inside: of several that see one handle too many, one takes it away.
      const taken = await db.transaction(
        async (tx) => {
          const victim = (await over(tx)) ? await tx.get<Victim>(oldest, keep) : undefined;
          return victim && { ...victim, unowned: await takeAway(tx, victim) };
        },
        { serial: EVICTING },
      );
      if (!taken) return;
      if (taken.unowned) await free(db, taken.blob!);
    }
  }

  async function over(db: Statements): Promise<boolean> {
    const total = (await db.get<{ handles: number; bytes: number }>("SELECT handles, bytes FROM total"))!;
    const isRoomy = total.handles + ROOM_HANDLES < options.max_count && total.bytes + ROOM_BYTES < options.max_bytes;
    if (isRoomy) roomy_until = Date.now() + UNASKED_MS;
    return total.handles > options.max_count || total.bytes > options.max_bytes;
  }

  return {
    async enforce(db, keep) {
      const now = Date.now();
      if (now - swept_ms > SWEEP_EVERY_MS) {
        swept_ms = now;
        await interruptDead(db, runner, now);
        await freeAbandoned(db, now);
        await expire(db, now);
      }
      await evict(db, keep ?? "");
    },
  };
}

/** Jobs whose process is gone will never end by themselves. */
export async function interruptDead(db: Store, runner: string, now: number): Promise<void> {
  const others =
    "SELECT DISTINCT runner, max(beat_ms) AS beat_ms FROM handle WHERE state = 'running' AND runner != ? GROUP BY runner";
  for (const other of await db.all<{ runner: string; beat_ms: number }>(others, runner))
    if (!runs(other.runner, other.beat_ms, now))
      await db.run("UPDATE handle SET state = 'interrupted' WHERE state = 'running' AND runner = ?", other.runner);
}

async function remove(db: Store, victim: Victim): Promise<void> {
  if (await db.transaction((tx) => takeAway(tx, victim))) await free(db, victim.blob!);
}

/** Whether its content is nobody's now. */
async function takeAway(tx: Statements, victim: Victim): Promise<boolean> {
  if ((await tx.run("DELETE FROM handle WHERE id = ?", victim.id)).changes === 0) return false;
  return victim.blob !== null && (await release(tx, victim.blob));
}
