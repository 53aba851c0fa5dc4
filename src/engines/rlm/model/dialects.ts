import * as z from "zod";
import type { AllowedModel, Dialect } from "../../../base/model.ts";
import type { Usage } from "../ledger.ts";
import type { ChatReply, ChatRequest } from "./types.ts";

/** How one kind of server is spoken to. */
interface Speech {
  readonly path: string;
  headers(key: string | undefined): Record<string, string>;
  body(model: AllowedModel, request: ChatRequest): unknown;
  read(json: unknown): ChatReply;
}

const count = z.int().min(0);

/** What is no sensible count is no count: the call then costs its worst case. */
function usageOf(schema: z.ZodType<Usage>, value: unknown): Pick<ChatReply, "usage"> {
  const parsed = schema.safeParse(value);
  return parsed.success ? { usage: parsed.data } : {};
}

const openaiReply = z.object({
  choices: z.tuple([z.object({ message: z.object({ content: z.string().nullish() }) })], z.unknown()),
  usage: z.unknown(),
});
const openaiUsage = z
  .object({
    prompt_tokens: count,
    completion_tokens: count,
    prompt_tokens_details: z.object({ cached_tokens: count.nullish() }).nullish(),
    completion_tokens_details: z.object({ reasoning_tokens: count.nullish() }).nullish(),
  })
  .transform((given) => ({
    input_tokens: given.prompt_tokens,
    cached_tokens: given.prompt_tokens_details?.cached_tokens ?? 0,
    output_tokens: given.completion_tokens,
    reasoning_tokens: given.completion_tokens_details?.reasoning_tokens ?? 0,
  }));

const openai: Speech = {
  path: "/chat/completions",
  headers: (key) => (key === undefined ? {} : { authorization: `Bearer ${key}` }),
  body: (model, { system, messages, max_output_tokens }) => ({
    model: model.id,
    messages: [{ role: "system", content: system }, ...messages],
    stream: false,
    // OpenAI's own reasoning models refuse the older name; other servers know only that.
    [/\/\/api\.openai\.com\//.test(`${model.base_url}/`) ? "max_completion_tokens" : "max_tokens"]: max_output_tokens,
  }),
  read(json) {
    const { choices, usage } = openaiReply.parse(json);
    return { text: choices[0].message.content ?? "", ...usageOf(openaiUsage, usage) };
  },
};

const ollamaReply = z.object({ message: z.object({ content: z.string() }) });
const ollamaUsage = z
  .object({ prompt_eval_count: count, eval_count: count })
  .transform((given) => plainUsage(given.prompt_eval_count, given.eval_count));
/** A window that is too small cuts the prompt in silence; one that changes with every call reloads the model. */
const WINDOWS = [8_192, 32_768, 131_072];

const ollama: Speech = {
  path: "/api/chat",
  headers: (key) => (key === undefined ? {} : { authorization: `Bearer ${key}` }),
  body(model, { system, messages, max_output_tokens }) {
    const all = [{ role: "system", content: system }, ...messages];
    const tokens = all.reduce((sum, { content }) => sum + content.length / 2.5, max_output_tokens);
    const num_ctx = WINDOWS.find((size) => size >= tokens) ?? WINDOWS.at(-1);
    return { model: model.id, messages: all, stream: false, options: { num_predict: max_output_tokens, num_ctx } };
  },
  read: (json) => ({ text: ollamaReply.parse(json).message.content, ...usageOf(ollamaUsage, json) }),
};

const anthropicReply = z.object({
  content: z.array(z.object({ type: z.string(), text: z.string().optional() })),
  usage: z.unknown(),
});
const anthropicUsage = z
  .object({
    input_tokens: count,
    cache_read_input_tokens: count.nullish(),
    cache_creation_input_tokens: count.nullish(),
    output_tokens: count,
  })
  .transform((given) => {
    const cached = given.cache_read_input_tokens ?? 0;
    const input = given.input_tokens + cached + (given.cache_creation_input_tokens ?? 0);
    return { ...plainUsage(input, given.output_tokens), cached_tokens: cached };
  });

const anthropic: Speech = {
  path: "/messages",
  headers: (key) => ({ "anthropic-version": "2023-06-01", ...(key === undefined ? {} : { "x-api-key": key }) }),
  body: (model, { system, messages, max_output_tokens }) => ({
    model: model.id,
    system,
    messages,
    max_tokens: max_output_tokens,
  }),
  read(json) {
    const { content, usage } = anthropicReply.parse(json);
    const text = content.map((part) => (part.type === "text" ? (part.text ?? "") : "")).join("");
    return { text, ...usageOf(anthropicUsage, usage) };
  },
};

function plainUsage(input_tokens: number, output_tokens: number): Usage {
  return { input_tokens, cached_tokens: 0, output_tokens, reasoning_tokens: 0 };
}

export const SPEECH: Readonly<Record<Dialect, Speech>> = { openai, ollama, anthropic };
