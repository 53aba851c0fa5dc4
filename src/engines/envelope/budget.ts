import type { BudgetOptions } from "./options.ts";

const PER_CALL = 8000;
const PER_SESSION = 200_000;
/** However much was spent: so much is always said, or failures would be hidden. */
const LEAST = 1200;

export interface Who {
  readonly agent_id: string;
  readonly session_id: string;
  readonly model: string;
  readonly budget_profile: string;
}

export interface Allowance {
  /** Characters of this answer. */
  readonly room: number;
  /** What the session has left before this answer; null: no limit. */
  readonly left: number | null;
}

/** The profile's row, else the agent's, else the default; what is spent makes answers shorter, never refused. */
export function allowance(budgets: BudgetOptions, who: Who, spent: number): Allowance {
  const per_call = row(budgets, "per_call") ?? PER_CALL;
  const named = [who.budget_profile, who.agent_id].filter((name) => name !== "default" && name !== "per_call");
  const total = named.map((name) => row(budgets, name)).find((value) => value !== undefined);
  const session = total ?? row(budgets, "default") ?? PER_SESSION;
  const most = per_call === 0 ? Number.MAX_SAFE_INTEGER : per_call;
  if (session === 0) return { room: most, left: null };
  const left = Math.max(0, session - spent);
  return { room: Math.max(Math.min(LEAST, most), Math.min(most, left)), left };
}

function row(budgets: BudgetOptions, name: string): number | undefined {
  return Object.hasOwn(budgets, name) ? budgets[name] : undefined;
}
