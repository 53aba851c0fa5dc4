import type { Price } from "../../base/model.ts";
import type { OwnPrice } from "./options.ts";

const price = (input: number, cached_input: number, output: number): Price => ({
  input,
  cached_input,
  output,
  reasoning: output,
});

/**
 * List prices in dollars for a million tokens: input, input from a cache, output. Looked up on 2026-11-16 in the providers' price
 * lists (platform.claude.com/docs/en/about-claude/pricing, developers.openai.com/api/docs/pricing) and in what others copied of them.
 * Models whose price depends on the length of the prompt are not listed. An operator's own prices come first.
 */
const LISTED: Readonly<Record<string, Price>> = {
  "openai/gpt-5.1": price(1.25, 0.125, 10),
  "openai/gpt-5": price(1.25, 0.125, 10),
  "openai/gpt-5-mini": price(0.25, 0.025, 2),
  "openai/gpt-5-nano": price(0.05, 0.005, 0.4),
  "openai/gpt-4.1": price(2, 0.5, 8),
  "openai/gpt-4.1-mini": price(0.4, 0.1, 1.6),
  "openai/gpt-4.1-nano": price(0.1, 0.025, 0.4),
  "openai/gpt-4o": price(2.5, 1.25, 10),
  "openai/gpt-4o-mini": price(0.15, 0.075, 0.6),
  "openai/o3": price(2, 0.5, 8),
  "openai/o4-mini": price(1.1, 0.275, 4.4),
  "anthropic/claude-fable-5": price(10, 1, 50),
  "anthropic/claude-opus-5": price(5, 0.5, 25),
  "anthropic/claude-opus-4-8": price(5, 0.5, 25),
  "anthropic/claude-opus-4-7": price(5, 0.5, 25),
  "anthropic/claude-opus-4-6": price(5, 0.5, 25),
  "anthropic/claude-opus-4-5": price(5, 0.5, 25),
  "anthropic/claude-opus-4-1": price(15, 1.5, 75),
  "anthropic/claude-sonnet-5-5": price(2, 0.2, 10),
  "anthropic/claude-sonnet-5": price(2, 0.2, 10),
  "anthropic/claude-sonnet-4-6": price(3, 0.3, 15),
  "anthropic/claude-sonnet-4-5": price(3, 0.3, 15),
  "anthropic/claude-sonnet-4": price(3, 0.3, 15),
  "anthropic/claude-haiku-4-5": price(1, 0.1, 5),
  "anthropic/claude-3-5-haiku": price(0.8, 0.08, 4),
};

/** What an unknown model is counted at in the unrestricted profile: dearer than any that is listed. */
export const UNKNOWN_PRICE: Price = price(30, 30, 150);
export const FREE: Price = price(0, 0, 0);

/** The price of a model, or nothing. `openai/gpt-4o-2024-08-06` and `…-latest` cost what `openai/gpt-4o` does. */
export function priceOf(name: string, own: Readonly<Record<string, OwnPrice>>): Price | undefined {
  const plain = name.replace(/-(\d{4}-?\d{2}-?\d{2}|latest)$/, "");
  for (const key of [name, plain]) if (Object.hasOwn(own, key)) return fromOwn(own[key]!);
  return Object.hasOwn(LISTED, name) ? LISTED[name] : Object.hasOwn(LISTED, plain) ? LISTED[plain] : undefined;
}

function fromOwn(given: OwnPrice): Price {
  return {
    input: given.input_usd_per_mtok,
    cached_input: given.cached_input_usd_per_mtok ?? given.input_usd_per_mtok,
    output: given.output_usd_per_mtok,
    reasoning: given.reasoning_usd_per_mtok ?? given.output_usd_per_mtok,
  };
}
