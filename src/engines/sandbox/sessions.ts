import { Fault } from "../../base/fault.ts";
import { unguessableId } from "../../base/ids.ts";
import type { Principal } from "../../base/principal.ts";
import { type Live, liveOf, notFound } from "./live.ts";
import type { SandboxOptions } from "./options.ts";
import type { Pool } from "./pool.ts";
import { createResident, UNSEEN } from "./resident.ts";
import type { Look } from "./runtimes/types.ts";
import type { Saved, SessionRow, SessionStore } from "./store.ts";
import type { Tenure } from "./tenure.ts";
import type { CreateSession, ExecuteRequest, ExecuteResult, Language, SessionInfo } from "./types.ts";

interface SessionDeps {
  readonly options: SandboxOptions;
  readonly pool: Pool;
  readonly store: () => Promise<SessionStore>;
  readonly tenure: Tenure;
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

/** Which sessions there are, and which of them this process has. */
export function createSessions(deps: SessionDeps): Sessions {
  const { options, tenure, store } = deps;
  const live = new Map<string, Live>();
  const keyOf = (owner: Principal, id: string) => `${owner}\n${id}`;
  const resident = createResident({
    ...deps,
    gone: (session) => void live.delete(keyOf(session.owner, session.session_id)),
    isHere: (session) => live.has(keyOf(session.owner, session.session_id)),
  });

  async function create(
    owner: Principal,
    wanted: CreateSession,
    default_key: string | null = null,
  ): Promise<SessionRow> {
    const db = await store();
    const now = Date.now();
    await db.expire(now - options.hibernated_ttl_s * 1000);
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
      fence: 0,
      held_until: 0,
    };
    if (!(await db.add(row)))
      throw new Fault("target_exists", `There is a session ${row.session_id} already.`, {
        hint: "Use it, destroy it, or name another.",
      });
    if (source) await db.save(row, source.saved);
    return row;
  }

  async function sourceOf(owner: Principal, id: string): Promise<{ language: Language; saved: Saved }> {
    const session = await attach(owner, id);
    return { language: session.language, saved: await resident.copy(session) };
  }

  /** Sessions that nobody asked for give way to new ones when their process is gone; others are the caller's to end. */
  async function makeRoom(owner: Principal): Promise<void> {
    const db = await store();
    const rows = await db.list(owner);
    if (rows.length < deps.max_sessions) return;
    const old = rows
      .filter((row) => row.default_key !== null && !tenure.isHeld(row) && !live.has(keyOf(owner, row.session_id)))
      .sort((a, b) => a.last_used_at - b.last_used_at)[0];
    if (!old)
      throw new Fault("limit_exceeded", `There are ${rows.length} sessions, the most one caller may have.`, {
        hint: "destroy_session one of them (get_active_sessions).",
      });
    await db.remove(owner, old.session_id);
  }

  /** The session as this process has it; to any other caller it does not exist. */
  async function attach(owner: Principal, id: string): Promise<Live> {
    const there = live.get(keyOf(owner, id));
    if (there) return there;
    const row = await (await store()).find(owner, id);
    if (!row || row.last_used_at < Date.now() - options.hibernated_ttl_s * 1000) throw notFound(id);
    return adopt(row);
  }

  async function adopt(row: SessionRow): Promise<Live> {
    const key = keyOf(row.owner, row.session_id);
    const fence = await tenure.adopt(row).catch((error: unknown) => {
      // Two calls at once in this process: the other one has it for both.
      const raced = live.get(key);
      if (raced) return raced.fence;
      throw error;
    });
    const raced = live.get(key);
    if (raced) return raced;
    const session = liveOf({ ...row, fence });
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
    const db = await store();
    const row =
      (await db.findDefault(owner, key, language)) ??
      (await create(owner, { language, auto_persist_globals: true }, key).catch(async (error: unknown) => {
        const made = await db.findDefault(owner, key, language);
        if (made) return made;
        throw error;
      }));
    return live.get(keyOf(owner, row.session_id)) ?? (await adopt(row));
  }

  async function end(session: Live): Promise<void> {
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
    run: async (owner, request) => resident.run(await chosen(owner, request), request),
    create: (owner, wanted) => create(owner, wanted),
    async destroy(owner, id) {
      const session = live.get(keyOf(owner, id));
      if (session) await end(session);
      if (!(await (await store()).remove(owner, id))) throw notFound(id);
    },
    list: async (owner) =>
      (await (await store()).list(owner)).map((row) => {
        const session = live.get(keyOf(owner, row.session_id));
        const isLive = tenure.isHeld(row) || (tenure.is_per_call ? row.holder !== null : Boolean(session?.guest));
        return {
          session_id: row.session_id,
          language: row.language,
          state: isLive ? "live" : "hibernated",
          created_at: new Date(row.created_at).toISOString(),
          last_used_at: new Date(row.last_used_at).toISOString(),
          execution_count: (tenure.is_per_call ? undefined : session?.execution_count) ?? row.execution_count,
          bytes: row.bytes,
        };
      }),
    async look(owner, id) {
      const session = await attach(owner, id);
      if (session.guest && !tenure.is_per_call) return resident.look(session);
      return (await (await store()).look(owner, id)) ?? UNSEEN;
    },
    async reset(owner, id) {
      const session = await attach(owner, id);
      await resident.inTurn(session, {}, async () => {
        session.guest?.end();
        session.guest = session.rescued = undefined;
        session.execution_count = session.saved_count = session.lost = 0;
        await (await store()).reset(session);
      });
    },
    async cancel(owner, id) {
      const session = live.get(keyOf(owner, id));
      if (session?.cancel) {
        session.cancel.abort();
        return true;
      }
      const db = await store();
      const row = await db.find(owner, id);
      if (!row) throw notFound(id);
      if (!tenure.is_per_call || !tenure.isHeld(row)) return false;
      await db.askToCancel(owner, id);
      return true;
    },
    async close() {
      await Promise.allSettled([...live.values()].map(resident.hibernate));
    },
  };
}
