import { Fault } from "../../base/fault.ts";
import type { Principal } from "../../base/principal.ts";
import type { Guest } from "./guest.ts";
import type { RunEnd } from "./run.ts";
import type { SessionRow } from "./store.ts";
import type { Language } from "./types.ts";

/** A session that this process has live. */
export interface Live {
  readonly owner: Principal;
  readonly session_id: string;
  readonly language: Language;
  readonly persist: boolean;
  /** Of the last time that this process had it. */
  fence: number;
  guest: Guest | undefined;
  execution_count: number;
  saved_count: number;
  saved_at: number;
  /** Runs that were answered and then lost with their interpreter. */
  lost: number;
  /** The state that a dead interpreter left behind, newer than the stored one. */
  rescued: Uint8Array | undefined;
  turn: Promise<unknown>;
  queued: number;
  cancel: AbortController | undefined;
  save_timer: NodeJS.Timeout | undefined;
  idle_timer: NodeJS.Timeout | undefined;
}

export function liveOf(row: SessionRow): Live {
  return {
    owner: row.owner,
    session_id: row.session_id,
    language: row.language,
    persist: row.persist,
    fence: row.fence,
    guest: undefined,
    execution_count: row.execution_count,
    saved_count: row.saved_count,
    saved_at: Date.now(),
    lost: 0,
    rescued: undefined,
    turn: Promise.resolve(),
    queued: 0,
    cancel: undefined,
    save_timer: undefined,
    idle_timer: undefined,
  };
}

/** What became of a state whose interpreter is gone. */
export const rolledBack = (left: number, lost: number): string =>
  lost === 0
    ? "the state before this call is kept."
    : left === 0
      ? "all variables are lost."
      : `the state is that of ${lost} calls ago.`;

/** Says what became of the state when a run took its interpreter with it. */
export function told(end: RunEnd, count: number, lost: number): RunEnd["result"] {
  const { limit } = end.result;
  if (!limit) return end.result;
  return {
    ...end.result,
    limit: { ...limit, hint: `${limit.hint} In this session ${rolledBack(count - lost, lost)}` },
  };
}

export function notFound(id: string): Fault {
  return new Fault("session_not_found", `There is no session ${id.slice(0, 80)}.`, {
    hint: "create_session, or leave session_id out.",
  });
}
