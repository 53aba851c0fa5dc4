import type { AllowedModel } from "../../../base/model.ts";
import { type Answer, NetworkError, type Poster } from "../../../base/net/index.ts";
import { SPEECH } from "./dialects.ts";
import { failureOfStatus, ModelFailure, repeatable } from "./failure.ts";
import { wholeReply } from "./stream.ts";
import type { Ask, ChatRequest } from "./types.ts";

interface Posters {
  /** Reaches this machine only. */
  readonly local: Poster;
  /** Reaches what the profile allows. */
  readonly remote: Poster;
}

/** Asks over the network, once. */
export function createAsk(posters: Posters): Ask {
  return async (model, request, signal) => {
    const speech = SPEECH[model.dialect];
    const url = new URL(model.base_url + speech.path);
    const body = JSON.stringify(speech.body(model, request));
    const poster = model.is_local ? posters.local : posters.remote;
    const answer = await poster.post(url, speech.headers(model.key()), body, signal).catch((error: unknown) => {
      if (!(error instanceof NetworkError)) throw error;
      throw new ModelFailure({ kind: "network", billed: error.sent, said: error.message });
    });
    if (answer.status !== 200) throw refused(answer, model, request);
    try {
      return speech.read(wholeReply(answer.body, answer.headers["content-type"] ?? ""));
    } catch {
      throw new ModelFailure({ kind: "malformed", billed: true });
    }
  };
}

function refused({ status, headers, body }: Answer, model: AllowedModel, request: ChatRequest): ModelFailure {
  return failureOfStatus(status, secondsOf(headers["retry-after"]), repeatable(messageIn(body), request, model.key()));
}

/** `{error: {message}}`, `{error}` or `{message}`, as servers write it. */
function messageIn(body: string): unknown {
  try {
    const json = JSON.parse(body) as { error?: unknown; message?: unknown };
    const { error } = json;
    return typeof error === "object" && error !== null
      ? (error as { message?: unknown }).message
      : (error ?? json.message);
  } catch {
    return undefined;
  }
}

function secondsOf(header: string | undefined): number | undefined {
  if (header === undefined) return undefined;
  const seconds = /^\d+(\.\d+)?$/.test(header) ? Number(header) : (Date.parse(header) - Date.now()) / 1000;
  return Number.isFinite(seconds) ? Math.max(0, seconds) : undefined;
}
