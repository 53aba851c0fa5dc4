import * as z from "zod";

const MIB = 1024 * 1024;

const { ipv4, ipv6, cidrv4, cidrv6 } = z.regexes;
const NAME = /^[\w-]+(\.[\w-]+)*\.?$/;
/** A typing mistake in this list must not open a way out, nor close one in silence. */
const isHost = (entry: string) =>
  /[:/]|^[\d.]+$/.test(entry) ? [ipv4, ipv6, cidrv4, cidrv6].some((form) => form.test(entry)) : NAME.test(entry);
/** Data for a model goes to the host that is written there, by a key that is not. */
const isPlainAddress = (url: string) => /^https?:\/\/[^/?#@\\]+(\/[^?#@]*)?$/i.test(url);

/** `[mcp.rlm]`: what callers may do. */
export const rlmPolicyOptions = z.strictObject({
  enabled: z.boolean().default(true).describe("false: rlm_query is neither listed nor callable."),
  profile: z
    .enum(["restricted", "unrestricted"])
    .default("restricted")
    .describe(
      "restricted: data goes to this machine and to allowed_hosts only. unrestricted: wherever the models are.",
    ),
  allow_http: z.boolean().default(false).describe("Callers over HTTP may use rlm_query."),
  allow_path: z.boolean().default(true).describe("rlm_query may read files."),
  allow_absolute_paths: z.boolean().default(false).describe("Paths may be absolute; the roots still hold."),
  denylist_globs: z
    .array(z.string().min(1))
    .optional()
    .describe("Files that rlm_query does not read. Default: a broad list when restricted, a precise one else."),
  default_max_bytes: z.int().min(1).default(262_144).describe("Largest file when a call names no max_bytes."),
  default_timeout_s: z.int().min(1).default(300).describe("Seconds for a call that names no timeout_s."),
  allow_model_override: z
    .boolean()
    .default(false)
    .describe("A call may name its model; only in the unrestricted profile."),
  allowed_model_prefixes: z
    .array(z.string().min(1))
    .optional()
    .describe(
      "How names of models may begin. Default: ollama_chat/ and ollama/ when restricted; else any, as with an empty list.",
    ),
  allowed_hosts: z
    .array(
      z
        .string()
        .refine(isHost, "use a name, an address or a network, no port, user or path: gpu.internal, 10.1.0.0/16"),
    )
    .default([])
    .describe("Names, addresses or networks besides this machine that the restricted profile may send to."),
  allow_partial: z
    .boolean()
    .default(false)
    .describe("Without an answer at the end of turns, budget or time: return what was printed last, marked partial."),
  trace: z.boolean().default(false).describe("Answers carry a trace: sizes and hashes of what was sent and run."),
  trace_text: z.boolean().default(false).describe("The trace holds the texts themselves too."),
  max_budget_usd: z.number().positive().default(5).describe("Most that one call may spend, whatever it asks for."),
  max_bytes_limit: z
    .int()
    .min(1)
    .max(64 * MIB)
    .default(64 * MIB)
    .describe("Largest text, whatever a call asks for."),
  timeout_s_limit: z.int().min(1).default(1800).describe("Longest time in seconds, whatever a call asks for."),
  max_turns_limit: z.int().min(1).default(30).describe("Most turns, whatever a call asks for."),
});

const provider = z.strictObject({
  base_url: z
    .url()
    .refine(isPlainAddress, "use http(s)://HOST[:PORT][/PATH]; a key goes into the variable that api_key_env names")
    .optional(),
  api_key_env: z.string().min(1).optional(),
});

const dollars = z.number().min(0);
const price = z.strictObject({
  input_usd_per_mtok: dollars,
  cached_input_usd_per_mtok: dollars.optional(),
  output_usd_per_mtok: dollars,
  reasoning_usd_per_mtok: dollars.optional(),
});

/** `[rlm]`: which models, and how far a run may go. */
export const rlmOptions = z.strictObject({
  root_model: z.string().min(1).optional().describe("The model that writes the code, such as ollama_chat/NAME."),
  sub_model: z.string().min(1).optional().describe("The model that answers llm_query. Default: root_model."),
  max_depth: z.int().min(1).max(8).default(2).describe("Levels of runs: 1 is a run that may not start others."),
  max_calls: z.int().min(1).default(200).describe("Calls of models in one run, all levels together."),
  soft_limit: z.number().min(0).max(1).default(0.8).describe("Share of the budget at which the model is warned, once."),
  small_input_bytes: z.int().min(0).default(16_384).describe("Texts up to this size are sent whole in one call."),
  replay_dir: z
    .string()
    .optional()
    .meta({ path: true })
    .describe("Folder where runs are recorded for `llmc rlm replay`. The answers of models are in it as they came."),
  providers: z
    .record(z.string(), provider)
    .default({})
    .describe(
      "[rlm.providers.PREFIX]: base_url and api_key_env of the models PREFIX/NAME. New prefixes speak like OpenAI.",
    ),
  pricing: z
    .record(z.string(), price)
    .default({})
    .describe(
      '[rlm.pricing."PREFIX/NAME"]: input_usd_per_mtok, output_usd_per_mtok, cached_input_usd_per_mtok, reasoning_usd_per_mtok.',
    ),
});

export type RlmPolicy = z.output<typeof rlmPolicyOptions>;
export type RlmOptions = z.output<typeof rlmOptions>;
export type OwnPrice = z.output<typeof price>;
