import { Fault } from "../../../base/fault.ts";
import { visible } from "../../../base/text.ts";
import type { ChatRequest } from "./types.ts";

export type FailureKind =
  | "rate_limit"
  | "server"
  | "network"
  | "auth"
  | "bad_request"
  | "not_found"
  | "malformed"
  | "not_recorded";

interface FailureFacts {
  readonly kind: FailureKind;
  readonly status?: number | undefined;
  readonly retry_after_s?: number | undefined;
  /** The provider may have done the work, and may bill it. */
  readonly billed: boolean;
  /** The provider's own words, as far as they are ours to repeat. */
  readonly said?: string | undefined;
}

/** A call of a model that failed. */
export class ModelFailure extends Error {
  override readonly name = "ModelFailure";
  readonly facts: FailureFacts;

  constructor(facts: FailureFacts) {
    super(facts.kind);
    this.facts = facts;
  }

  get retryable(): boolean {
    return this.facts.kind === "rate_limit" || this.facts.kind === "server" || this.facts.kind === "network";
  }

  /** For the caller: class and message, never the prompt. */
  asFault(model: string): Fault {
    const { kind, status, said, retry_after_s } = this.facts;
    const what = [kind, status === undefined ? "" : ` ${status}`, said ? `: ${said}` : ""].join("");
    return new Fault("provider_error", `${model}: ${what}`, {
      retryable: this.retryable,
      hint: HINTS[kind],
      ...(retry_after_s === undefined ? {} : { retry_after_s }),
    });
  }
}

const HINTS: Readonly<Record<FailureKind, string>> = {
  rate_limit: "Wait, or use fewer parallel calls.",
  server: "The provider failed; try again later.",
  network: "Is the model server running? Its address is rlm.providers.<prefix>.base_url.",
  auth: "Check the key in the variable that rlm.providers.<prefix>.api_key_env names.",
  bad_request: "The provider refused the request; the model may not take texts this long.",
  not_found: "The provider knows no such model or address.",
  malformed: "The provider answered with something that is no reply of a model.",
  not_recorded: "The recording holds no such request: text, task, models or versions differ. Nothing was sent.",
};

/** Said by what stands before a provider: the answer was lost on the way, the work may be done. */
const LOST = new Set([408, 502, 504]);

export function failureOfStatus(
  status: number,
  retry_after_s: number | undefined,
  said: string | undefined,
): ModelFailure {
  const kind: FailureKind =
    status === 429
      ? "rate_limit"
      : status >= 500 || status === 408
        ? "server"
        : status === 401 || status === 403
          ? "auth"
          : status === 404
            ? "not_found"
            : "bad_request";
  return new ModelFailure({ kind, status, retry_after_s, billed: LOST.has(status), said });
}

const SAID_CHARS = 200;
/** A provider may quote the prompt in its message. This much of it in common is a quotation. */
const QUOTED = 12;

/** The provider's message as one short line; nothing when it repeats what we sent. */
export function repeatable(said: unknown, request: ChatRequest, key: string | undefined): string | undefined {
  if (typeof said !== "string" || said === "") return undefined;
  const line = visible(said.replace(/\s+/g, " ")).slice(0, SAID_CHARS);
  if (key !== undefined && key.length > 3 && line.includes(key)) return undefined;
  const sent = [request.system, ...request.messages.map(({ content }) => content)].join("\n").replace(/\s+/g, " ");
  for (let at = 0; at + QUOTED <= line.length; at++) if (sent.includes(line.slice(at, at + QUOTED))) return undefined;
  return line.length < QUOTED && sent.includes(line) ? undefined : line;
}
