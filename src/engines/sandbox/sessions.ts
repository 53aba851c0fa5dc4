import { Fault } from "../../base/fault.ts";
import { unguessableId } from "../../base/ids.ts";
import type { Principal } from "../../base/principal.ts";
import type { Guest } from "./guest.ts";
import { isHeld, type Live, liveOf, notFound, rolledBack, thisProcess, told } from "./live.ts";
import type { SandboxOptions } from "./options.ts";
import type { Pool } from "./pool.ts";
import { runOn } from "./run.ts";
import type { Look } from "./runtimes/types.ts";
import type { Saved, SessionRow, SessionStore } from "./store.ts";
import type { CreateSession, ExecuteRequest, ExecuteResult, Language, SessionInfo } from "./types.ts";

/** A session goes to the store when nobody used it for this long; under steady use at least every SAVE_EVERY_MS. */
const SAVE_AFTER_MS = 25;
const SAVE_EVERY_MS = 2000;
const UNSEEN: Look = { t: "looked", variables: [], imports: [], files: [] };

interface SessionDeps {
  readonly options: SandboxOptions;
  readonly pool: Pool;
  readonly store: () => SessionStore;
  readonly max_sessions: number;
}

export interface Sessions {
  run(owner: Principal, request: ExecuteRequest): Promise<ExecuteResult>;
  create(owner: Principal, wanted: CreateSession): Promise<SessionRow>;
  destroy(owner: Principal, session_id: string): Promise<void>;
  list(owner: Principal): Promise<SessionInfo[]>;
  look(owner: Principal, session_id: string): Promise<Look>;
  /** Without files and variables; it stays. */
  reset(owner: Principal, session_id: string): Promise<void>;
  cancel(owner: Principal, session_id: string): Promise<boolean>;
  close(): Promise<void>;
}

export function createSessions(deps: SessionDeps): Sessions {
  const { options, pool } = deps;
  const live = new Map<string, Live>();
  const keyOf = (owner: Principal, id: string) => `${owner}\n${id}`;
  const holder = thisProcess();

  async function create(
    owner: Principal,
    wanted: CreateSession,
    default_key: string | null = null,
  ): Promise<SessionRow> {
    const store = deps.store();
    const now = Date.now();
    await store.expire(now - options.hibernated_ttl_s * 1000);
    await makeRoom(owner);
    const source = wanted.from_session === undefined ? undefined : await sourceOf(owner, wanted.from_session);
    const language = wanted.language === "typescript" ? "javascript" : wanted.language;
    if (source && source.language !== language)
      throw new Fault("invalid_args", `${wanted.from_session} is a ${source.language} session.`);
    const row: SessionRow = {
      session_id: wanted.session_id ?? unguessableId("ses").slice(0, 12),
      owner,
      language,
      default_key,
      persist: wanted.auto_persist_globals,
      created_at: now,
      last_used_at: now,
      execution_count: 0,
      saved_count: 0,
      bytes: 0,
      holder: null,
    };
    if (!(await store.add(row)))
      throw new Fault("target_exists", `There is a session ${row.session_id} already.`, {
        hint: "Use it, destroy it, or name another.",
      });
    if (source) await store.save(owner, row.session_id, source.saved);
    return row;
  }

  /** The state of a session as it is now, for a copy of it. */
  async function sourceOf(owner: Principal, id: string): Promise<{ language: Language; saved: Saved }> {
    const session = await attach(owner, id);
    return inTurn(session, false, async () => {
      const guest = await awake(session);
      return {
        language: session.language,
        saved: { ...(await imageOf(guest)), execution_count: session.execution_count },
      };
    });
  }

  /** Sessions that nobody asked for give way to new ones when their process is gone; others are the caller's to end. */
  async function makeRoom(owner: Principal): Promise<void> {
    const rows = await deps.store().list(owner);
    if (rows.length < deps.max_sessions) return;
    const old = rows
      .filter((row) => row.default_key !== null && !isHeld(row, holder) && !live.has(keyOf(owner, row.session_id)))
      .sort((a, b) => a.last_used_at - b.last_used_at)[0];
    if (!old)
      throw new Fault("limit_exceeded", `There are ${rows.length} sessions, the most one caller may have.`, {
        hint: "destroy_session one of them (get_active_sessions).",
      });
    await deps.store().remove(owner, old.session_id);
  }

  /** The session as this process has it; to any other caller it does not exist. */
  async function attach(owner: Principal, id: string): Promise<Live> {
    const key = keyOf(owner, id);
    const there = live.get(key);
    if (there) return there;
    const row = await deps.store().find(owner, id);
    if (!row || row.last_used_at < Date.now() - options.hibernated_ttl_s * 1000) throw notFound(id);
    return adopt(row);
  }

  async function adopt(row: SessionRow): Promise<Live> {
    const key = keyOf(row.owner, row.session_id);
    if (isHeld(row, holder))
      throw new Fault("resource_busy", `${row.session_id} is live in another server process.`, {
        hint: "Use it there, or copy nothing and create a new one.",
      });
    await deps.store().hold(row.owner, row.session_id, holder);
    const raced = live.get(key);
    if (raced) return raced;
    const session = liveOf(row);
    live.set(key, session);
    return session;
  }

  async function chosen(owner: Principal, request: ExecuteRequest): Promise<Live> {
    const language: Language = request.language === "typescript" ? "javascript" : request.language;
    if (request.session.kind === "named") {
      const session = await attach(owner, request.session.session_id);
      if (session.language !== language)
        throw new Fault("invalid_args", `${session.session_id} is a ${session.language} session.`, {
          hint: `Pass language: "${session.language}".`,
        });
      return session;
    }
    const key = (request.session as { key: string }).key;
    const row =
      (await deps.store().findDefault(owner, key, language)) ??
      (await create(owner, { language, auto_persist_globals: true }, key).catch(async (error: unknown) => {
        const made = await deps.store().findDefault(owner, key, language);
        if (made) return made;
        throw error;
      }));
    return live.get(keyOf(owner, row.session_id)) ?? (await adopt(row));
  }

  /** One after the other. Code inside a run that waits for its own session would wait for ever: it is told so. */
  async function inTurn<T>(session: Live, is_nested: boolean, work: () => Promise<T>): Promise<T> {
    if (is_nested && session.queued > 0)
      throw new Fault("resource_busy", `${session.session_id} is running the code that makes this call.`, {
        hint: 'Pass session_id: "none".',
      });
    session.queued++;
    clearTimeout(session.idle_timer);
    clearTimeout(session.save_timer);
    const mine = session.turn.then(work);
    session.turn = mine.catch(() => {});
    try {
      return await mine;
    } finally {
      session.queued--;
      if (session.queued === 0) rest(session);
    }
  }

  function rest(session: Live): void {
    if (!live.has(keyOf(session.owner, session.session_id))) return;
    if (session.persist && isUnsaved(session)) {
      session.save_timer = setTimeout(
        () => void inTurn(session, false, () => save(session)).catch(() => {}),
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
    const guest = await pool.take(session.language);
    const image = session.rescued ?? (await deps.store().load(session.owner, session.session_id))?.image;
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
    await deps.store().save(session.owner, session.session_id, { ...made, execution_count });
    session.saved_count = execution_count;
    session.saved_at = Date.now();
  }

  /** Into the store, and its interpreter away. One that is not to be kept ends. */
  async function hibernate(session: Live): Promise<void> {
    const key = keyOf(session.owner, session.session_id);
    await inTurn(session, false, async () => {
      if (session.queued > 1) return;
      if (session.persist) await save(session);
      live.delete(key);
      session.guest?.end();
      session.guest = undefined;
      if (session.persist) await deps.store().hold(session.owner, session.session_id, null);
      else await deps.store().remove(session.owner, session.session_id);
    });
  }

  async function run(owner: Principal, request: ExecuteRequest): Promise<ExecuteResult> {
    const session = await chosen(owner, request);
    return inTurn(session, request.depth > 0, async () => {
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

  const touch = (session: Live) =>
    deps.store().touch(session.owner, session.session_id, Date.now(), session.execution_count);

  async function remove(session: Live): Promise<void> {
    live.delete(keyOf(session.owner, session.session_id));
    session.cancel?.abort();
    clearTimeout(session.idle_timer);
    clearTimeout(session.save_timer);
    session.guest?.end();
    await session.turn;
    clearTimeout(session.idle_timer);
    clearTimeout(session.save_timer);
  }

  return {
    run,
    create: (owner, wanted) => create(owner, wanted),
    async destroy(owner, id) {
      const session = live.get(keyOf(owner, id));
      if (session) await remove(session);
      if (!(await deps.store().remove(owner, id))) throw notFound(id);
    },
    list: async (owner) =>
      (await deps.store().list(owner)).map((row) => {
        const session = live.get(keyOf(owner, row.session_id));
        return {
          session_id: row.session_id,
          language: row.language,
          state: session?.guest || isHeld(row, holder) ? "live" : "hibernated",
          created_at: new Date(row.created_at).toISOString(),
          last_used_at: new Date(row.last_used_at).toISOString(),
          execution_count: session?.execution_count ?? row.execution_count,
          bytes: row.bytes,
        };
      }),
    async look(owner, id) {
      const session = await attach(owner, id);
      if (!session.guest) {
        const saved = await deps.store().load(owner, id);
        return saved?.look ?? UNSEEN;
      }
      return inTurn(session, false, async () => {
        const look = await (await awake(session)).ask({ t: "look" });
        if (look.t !== "looked") throw new Fault("internal_error", "The session cannot be looked at.");
        return look;
      });
    },
    async reset(owner, id) {
      const session = await attach(owner, id);
      await inTurn(session, false, async () => {
        session.guest?.end();
        session.guest = session.rescued = undefined;
        session.execution_count = session.saved_count = session.lost = 0;
        await deps.store().reset(owner, id);
      });
    },
    async cancel(owner, id) {
      const session = live.get(keyOf(owner, id));
      if (!session && !(await deps.store().find(owner, id))) throw notFound(id);
      if (!session?.cancel) return false;
      session.cancel.abort();
      return true;
    },
    async close() {
      await Promise.allSettled([...live.values()].map(hibernate));
    },
  };
}
