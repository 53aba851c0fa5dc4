import { Fault } from "../../base/fault.ts";
import type { Guest } from "./guest.ts";
import { type Live, notFound, rolledBack, told } from "./live.ts";
import type { SandboxOptions } from "./options.ts";
import type { Pool } from "./pool.ts";
import { runOn } from "./run.ts";
import type { Look } from "./runtimes/types.ts";
import type { Saved, SessionStore } from "./store.ts";
import type { Tenure } from "./tenure.ts";
import type { ExecuteRequest, ExecuteResult } from "./types.ts";

/** A session goes to the store when nobody used it for this long; under steady use at least every SAVE_EVERY_MS. */
const SAVE_AFTER_MS = 25;
const SAVE_EVERY_MS = 2000;
export const UNSEEN: Look = { t: "looked", variables: [], imports: [], files: [] };

interface ResidentDeps {
  readonly options: SandboxOptions;
  readonly pool: Pool;
  readonly store: () => Promise<SessionStore>;
  readonly tenure: Tenure;
  /** The session is no longer in this process. */
  gone(session: Live): void;
  isHere(session: Live): boolean;
}

/** What happens to a session while this process has it: turns, an interpreter with its state, the way to the store and back. */
export interface Resident {
  /** One after the other, and while the session is ours. */
  inTurn<T>(session: Live, how: { is_nested?: boolean; signal?: AbortSignal }, work: () => Promise<T>): Promise<T>;
  run(session: Live, request: ExecuteRequest): Promise<ExecuteResult>;
  look(session: Live): Promise<Look>;
  /** The state as it is now, for a copy of it. */
  copy(session: Live): Promise<Saved>;
  hibernate(session: Live): Promise<void>;
}

const NEVER = new AbortController().signal;

export function createResident({ options, pool, store, tenure, gone, isHere }: ResidentDeps): Resident {
  /** Code inside a run that waits for its own session would wait for ever: it is told so. */
  async function inTurn<T>(
    session: Live,
    { is_nested = false, signal = NEVER }: { is_nested?: boolean; signal?: AbortSignal },
    work: () => Promise<T>,
  ): Promise<T> {
    if (is_nested && session.queued > 0)
      throw new Fault("resource_busy", `${session.session_id} is running the code that makes this call.`, {
        hint: 'Pass session_id: "none".',
      });
    session.queued++;
    clearTimeout(session.idle_timer);
    clearTimeout(session.save_timer);
    const mine = session.turn.then(() => inHand(session, signal, work));
    session.turn = mine.catch(() => {});
    try {
      return await mine;
    } finally {
      session.queued--;
      if (session.queued === 0) rest(session);
    }
  }

  /** Where replicas share the sessions, what a call did is in the store before the call is answered. */
  async function inHand<T>(session: Live, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const leave = await tenure.enter(session, signal);
    try {
      const value = await work();
      if (tenure.is_per_call) await save(session);
      return value;
    } finally {
      const fate = leave();
      if (tenure.is_per_call && fate === "held") await (await store()).release(session).catch(() => {});
      if (fate === "lost") forget(session);
    }
  }

  /** Another has it: nothing of what is here counts any more. */
  function forget(session: Live): void {
    session.guest?.end();
    session.guest = session.rescued = undefined;
    session.fence = -1;
  }

  function rest(session: Live): void {
    if (!isHere(session)) return;
    if (session.persist && isUnsaved(session)) {
      session.save_timer = setTimeout(
        () => void inTurn(session, {}, () => save(session)).catch(() => {}),
        SAVE_AFTER_MS,
      );
      session.save_timer.unref();
    }
    session.idle_timer = setTimeout(() => void hibernate(session).catch(() => {}), options.idle_s * 1000);
    session.idle_timer.unref();
  }

  const isUnsaved = (session: Live) =>
    (session.guest !== undefined || session.rescued !== undefined) && session.saved_count < session.execution_count;

  /** The session's interpreter, with its state in it. */
  async function awake(session: Live): Promise<Guest> {
    if (session.guest && !session.guest.isGone()) return session.guest;
    if (session.guest) dropped(session);
    const [guest, image] = await Promise.all([
      pool.take(session.language),
      session.rescued ?? store().then(async (db) => (await db.load(session.owner, session.session_id))?.image),
    ]);
    if (image) {
      const answer = await guest.ask({ t: "load", image });
      if (answer.t !== "loaded") {
        guest.end();
        const reason = answer.t === "refused" ? answer.reason : "it is damaged";
        throw new Fault("session_not_found", `${session.session_id} cannot be resumed: ${reason}.`, {
          hint: "reset_workspace or destroy_session, then begin again.",
        });
      }
    }
    session.guest = guest;
    return guest;
  }

  /** Its interpreter is gone: the state is the last one that was stored. */
  function dropped(session: Live): void {
    session.guest = undefined;
    session.lost += session.execution_count - session.saved_count;
    session.execution_count = session.saved_count;
  }

  async function imageOf(guest: Guest): Promise<{ image: Uint8Array; look: Look }> {
    const look = await guest.ask({ t: "look" });
    const saved = await guest.ask({ t: "save" });
    if (saved.t !== "saved")
      throw new Fault("internal_error", "The session cannot be stored.", {
        cause: saved.t === "refused" ? saved.reason : saved.t,
      });
    // A session that cannot be looked into is stored all the same.
    return { image: saved.image, look: look.t === "looked" ? look : UNSEEN };
  }

  async function save(session: Live): Promise<void> {
    if (session.guest?.isGone()) dropped(session);
    if (!isUnsaved(session)) return;
    const { execution_count, rescued: image } = session;
    const made = session.guest ? await imageOf(session.guest) : { image: image!, look: UNSEEN };
    if (!(await (await store()).save(session, { ...made, execution_count }))) {
      forget(session);
      // Destroyed meanwhile, here or elsewhere.
      if (!tenure.is_per_call) return;
      throw notFound(session.session_id);
    }
    session.saved_count = execution_count;
    session.saved_at = Date.now();
  }

  /** All of it is in the store already. One that is not to be kept ends, unless another replica uses it. */
  async function leaveAsleep(session: Live): Promise<void> {
    await session.turn;
    if (session.queued > 0) return;
    gone(session);
    session.guest?.end();
    session.guest = undefined;
    if (!session.persist) await (await store()).removeUnused(session);
  }

  /** Into the store, and its interpreter away. One that is not to be kept ends. */
  async function hibernate(session: Live): Promise<void> {
    if (tenure.is_per_call) return leaveAsleep(session);
    await inTurn(session, {}, async () => {
      if (session.queued > 1) return;
      if (session.persist) await save(session);
      gone(session);
      session.guest?.end();
      session.guest = undefined;
      const db = await store();
      if (session.persist) await db.release(session);
      else await db.remove(session.owner, session.session_id);
    });
  }

  async function run(session: Live, request: ExecuteRequest): Promise<ExecuteResult> {
    return inTurn(session, { is_nested: request.depth > 0, signal: request.signal }, async () => {
      request.signal.throwIfAborted();
      if (session.persist && Date.now() - session.saved_at > SAVE_EVERY_MS) await save(session);
      const guest = await awake(session);
      const before = { count: session.execution_count, lost: session.lost };
      session.lost = 0;
      session.cancel = new AbortController();
      const how = { stateless: false, reseed: session.execution_count === 0, cancel: session.cancel.signal };
      const end = await runOn(guest, request, how, options);
      session.cancel = undefined;
      session.rescued = undefined;
      session.execution_count++;
      if (!end.healthy) {
        guest.end();
        session.execution_count = before.count;
        session.rescued = end.image;
        if (end.image) session.guest = undefined;
        else dropped(session);
        const lost = session.lost;
        session.lost = 0;
        await touch(session);
        return { ...told(end, before.count, lost), session_id: session.session_id };
      }
      await touch(session);
      const note = before.lost > 0 ? `[session] Its interpreter died: ${rolledBack(before.count, before.lost)}\n` : "";
      return { ...end.result, stderr: note + end.result.stderr, session_id: session.session_id };
    });
  }

  const touch = async (session: Live) =>
    void (await (await store()).touch(session, Date.now(), session.execution_count));

  return {
    inTurn,
    run,
    hibernate,
    look: (session) =>
      inTurn(session, {}, async () => {
        const look = await (await awake(session)).ask({ t: "look" });
        if (look.t !== "looked") throw new Fault("internal_error", "The session cannot be looked at.");
        return look;
      }),
    copy: (session) =>
      inTurn(session, {}, async () => ({
        ...(await imageOf(await awake(session))),
        execution_count: session.execution_count,
      })),
  };
}
