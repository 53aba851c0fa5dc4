import { setTimeout as pause } from "node:timers/promises";
import { Fault } from "../../../base/fault.ts";
import type { AllowedModel } from "../../../base/model.ts";
import type { Ledger, Usage, WorstCase } from "../ledger.ts";
import { ModelFailure } from "./failure.ts";
import type { Ask, ChatReply, ChatRequest } from "./types.ts";

interface Metering {
  readonly ask: Ask;
  readonly ledger: Ledger;
  /** When the run must be over, on the clock of performance.now(). */
  readonly until_ms: number;
  /** A recording is not waited for. */
  readonly waits: boolean;
}

const ATTEMPTS = 4;
const FIRST_PAUSE_MS = 250;
/** Tokens that a server's own template adds to each message, at most. */
const AROUND_MESSAGE = 32;

/** A call of a model within the budget, tried again where that helps and time allows. Throws a Fault. */
export async function askMetered(
  { ask, ledger, until_ms, waits }: Metering,
  model: AllowedModel,
  request: ChatRequest,
  signal: AbortSignal,
): Promise<ChatReply> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await once(ask, ledger, model, request, signal);
    } catch (error) {
      if (!(error instanceof ModelFailure)) throw error;
      const wait_ms =
        (error.facts.retry_after_s ?? 0) * 1000 || FIRST_PAUSE_MS * 2 ** (attempt - 1) * (0.5 + Math.random());
      if (!error.retryable || attempt === ATTEMPTS || performance.now() + wait_ms >= until_ms)
        throw error.asFault(model.name);
      if (waits) await pause(wait_ms, undefined, { signal }).catch(() => signal.throwIfAborted());
    }
  }
}

/** The worst case is set aside before anything is sent, and settled by what came back. */
async function once(
  ask: Ask,
  ledger: Ledger,
  model: AllowedModel,
  request: ChatRequest,
  signal: AbortSignal,
): Promise<ChatReply> {
  const reservation = await ledger.reserve(worstCase(request), model.price, signal);
  try {
    const reply = await ask(model, request, signal);
    reservation.settle(counted(reply));
    return reply;
  } catch (error) {
    // A rule refused it before it was answered; anything else that went wrong here may have gone wrong after it was billed.
    const isRefused = error instanceof Fault && !signal.aborted;
    const mayCost = error instanceof ModelFailure ? error.facts.billed : !isRefused;
    if (mayCost) reservation.settle(undefined);
    else reservation.release();
    throw error;
  }
}

/** A request has tokens, and so has a text: who counts none has not counted. */
function counted({ text, usage }: ChatReply): Usage | undefined {
  return usage && usage.input_tokens > 0 && (usage.output_tokens > 0 || text === "") ? usage : undefined;
}

/** A token is at least a byte, whatever the model's vocabulary. */
export function worstCase({ system, messages, max_output_tokens }: ChatRequest): WorstCase {
  const texts = [system, ...messages.map(({ content }) => content)];
  return {
    input_tokens: texts.reduce((sum, text) => sum + Buffer.byteLength(text) + AROUND_MESSAGE, 0),
    output_tokens: max_output_tokens,
  };
}
