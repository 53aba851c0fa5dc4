import * as z from "zod";

export const MODES = ["classic", "hybrid", "code_execution"] as const;
export type ModeName = (typeof MODES)[number];

export const outputOptions = z.strictObject({
  format: z
    .enum(["auto", "json", "lean"])
    .default("auto")
    .describe(
      "json: the contract's JSON. lean: a line of JSON, then the bulk unescaped. auto: json in classic, lean in the other modes.",
    ),
  max_tokens: z.int().min(200).default(8000).describe("More than this for a model becomes a page and a handle."),
  structured: z
    .boolean()
    .default(false)
    .describe("Also send titles, output schemas and structuredContent. Many clients bill them again."),
});

export const limitOptions = z.strictObject({
  soft_deadline_s: z
    .number()
    .positive()
    .default(45)
    .describe("A call that runs longer answers with a job handle and runs on."),
  max_request_bytes: z
    .int()
    .min(1024)
    .default(8_388_608)
    .describe("Largest request; a longer one is refused while it is read."),
  max_response_bytes: z
    .int()
    .min(1024)
    .default(8_388_608)
    .describe("Largest payload for REST and for code; more is a fault that says so."),
  max_jobs_per_principal: z.int().min(1).default(16).describe("Jobs of one caller that may run at once."),
});

export const sessionOptions = z.strictObject({
  default_agent_id: z.string().default("unknown").describe("Agent id of calls that name none."),
  default_model: z.string().default("unknown").describe("Model of calls that name none."),
});

export type OutputOptions = z.output<typeof outputOptions>;
export type LimitOptions = z.output<typeof limitOptions>;
export type SessionOptions = z.output<typeof sessionOptions>;
