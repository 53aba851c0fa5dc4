declare const minted: unique symbol;

/** Dollars for a million tokens. */
export interface Price {
  readonly input: number;
  readonly cached_input: number;
  readonly output: number;
  readonly reasoning: number;
}

export type Dialect = "ollama" | "openai" | "anthropic";

/** A model that the operator's rules admit: where it is asked, how, and what it costs. Made only by engines/rlm. */
export interface AllowedModel {
  readonly [minted]: "AllowedModel";
  /** As it is configured: `openai/gpt-4o`. */
  readonly name: string;
  /** As its server knows it. */
  readonly id: string;
  readonly dialect: Dialect;
  readonly base_url: string;
  /** On this machine by its address: it costs nothing and may only ever be reached here. */
  readonly is_local: boolean;
  readonly price: Price;
  /** A function, so that no copy, log or message of this object holds the key. */
  key(): string | undefined;
}
