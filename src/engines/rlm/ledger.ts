import { Fault } from "../../base/fault.ts";
import type { Price } from "../../base/model.ts";

/** What a provider says a call took. */
export interface Usage {
  readonly input_tokens: number;
  readonly cached_tokens: number;
  /** Reasoning included. */
  readonly output_tokens: number;
  readonly reasoning_tokens: number;
}

export interface Summary {
  readonly total_cost_usd: number;
  readonly limit_usd: number;
  readonly remaining_usd: number;
  readonly calls: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
}

/** The worst that a call can take, in tokens. */
export interface WorstCase {
  readonly input_tokens: number;
  readonly output_tokens: number;
}

export interface Reservation {
  /** What it really took; nothing said counts as the worst case. */
  settle(usage: Usage | undefined): void;
  /** The call was not made, or was refused by its provider: it cost nothing. */
  release(): void;
}

/** One for a whole run with all its levels. Money is counted in whole billionths of a dollar, so sums are exact. */
export interface Ledger {
  /** Sets the worst case aside. A call that fits only when others turn out cheaper waits for them; one that cannot fit is refused. */
  reserve(worst: WorstCase, price: Price, signal: AbortSignal): Promise<Reservation>;
  summary(): Summary;
  /** The share that is spent, between 0 and 1. */
  spentShare(): number;
  callsLeft(): number;
}

const NANO = 1_000_000_000;

interface Waiting {
  readonly cost: number;
  readonly grant: () => void;
  readonly refuse: (fault: Fault) => void;
}

export function createLedger(limit_usd: number, max_calls: number): Ledger {
  const limit = Math.floor(limit_usd * NANO);
  const waiting: Waiting[] = [];
  let [spent, reserved, open, calls, input_tokens, output_tokens] = [0, 0, 0, 0, 0, 0];

  const left = () => Math.max(0, limit - spent - reserved);

  /** In the order in which they asked. */
  function admit(): void {
    for (let next = waiting[0]; next; next = waiting[0]) {
      if (calls >= max_calls) next.refuse(tooMany(max_calls));
      else if (next.cost <= left()) next.grant();
      else if (open === 0 || next.cost > limit - spent) next.refuse(overBudget(next.cost, limit - spent));
      else return;
    }
  }

  function reservation(worst: WorstCase, price: Price, cost: number): Reservation {
    let done = false;
    const end = (charged: number, usage: { input_tokens: number; output_tokens: number }) => {
      if (done) return;
      done = true;
      open--;
      reserved -= cost;
      spent += charged;
      input_tokens += usage.input_tokens;
      output_tokens += usage.output_tokens;
      admit();
    };
    return {
      settle: (usage) => (usage ? end(costOf(usage, price), usage) : end(cost, worst)),
      release: () => end(0, { input_tokens: 0, output_tokens: 0 }),
    };
  }

  return {
    async reserve(worst, price, signal) {
      signal.throwIfAborted();
      const cost = worstCost(worst, price);
      await new Promise<void>((resolve, reject) => {
        const leave = () => {
          waiting.splice(waiting.indexOf(entry), 1);
          signal.removeEventListener("abort", cancel);
        };
        const cancel = () => {
          leave();
          reject(signal.reason);
          admit();
        };
        const entry: Waiting = {
          cost,
          grant() {
            leave();
            reserved += cost;
            open++;
            calls++;
            resolve();
          },
          refuse(fault) {
            leave();
            reject(fault);
          },
        };
        waiting.push(entry);
        signal.addEventListener("abort", cancel, { once: true });
        admit();
      });
      return reservation(worst, price, cost);
    },
    summary: () => ({
      total_cost_usd: spent / NANO,
      limit_usd: limit / NANO,
      remaining_usd: left() / NANO,
      calls,
      input_tokens,
      output_tokens,
    }),
    spentShare: () => (limit === 0 ? 1 : Math.min(1, spent / limit)),
    callsLeft: () => Math.max(0, max_calls - calls),
  };
}

function worstCost({ input_tokens, output_tokens }: WorstCase, price: Price): number {
  const input = Math.max(price.input, price.cached_input);
  return nano(input_tokens * input + output_tokens * Math.max(price.output, price.reasoning));
}

function costOf(usage: Usage, price: Price): number {
  const cached = Math.min(usage.cached_tokens, usage.input_tokens);
  const reasoning = Math.min(usage.reasoning_tokens, usage.output_tokens);
  return nano(
    (usage.input_tokens - cached) * price.input +
      cached * price.cached_input +
      (usage.output_tokens - reasoning) * price.output +
      reasoning * price.reasoning,
  );
}

/** Dollars for a million tokens, times tokens: rounded up. The last digits of a product are noise. */
function nano(mtok_dollars: number): number {
  return Math.ceil(Number((mtok_dollars * (NANO / 1_000_000)).toFixed(3)));
}

function overBudget(cost: number, left: number): Fault {
  const dollars = (value: number) => `$${(Math.max(0, value) / NANO).toFixed(4)}`;
  return new Fault("budget_exceeded", `The next call could cost ${dollars(cost)}; ${dollars(left)} are left.`, {
    hint: "Ask for less, raise budget_usd (mcp.rlm.max_budget_usd bounds it), or use a cheaper model.",
  });
}

function tooMany(max_calls: number): Fault {
  return new Fault("limit_exceeded", `A run may make ${max_calls} calls of models.`, {
    hint: "Put more into each prompt, or raise rlm.max_calls.",
  });
}
