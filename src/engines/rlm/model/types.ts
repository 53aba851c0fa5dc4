import type { AllowedModel } from "../../../base/model.ts";
import type { Usage } from "../ledger.ts";

export interface Message {
  readonly role: "user" | "assistant";
  readonly content: string;
}

export interface ChatRequest {
  readonly system: string;
  readonly messages: readonly Message[];
  readonly max_output_tokens: number;
}

export interface ChatReply {
  readonly text: string;
  /** Absent when the provider did not say. */
  readonly usage?: Usage;
}

/** One attempt to ask a model: over the network, or from a recording. */
export type Ask = (model: AllowedModel, request: ChatRequest, signal: AbortSignal) => Promise<ChatReply>;
