import * as z from "zod";

/** [mcp.te] */
export const teOptions = z.strictObject({
  enabled: z
    .boolean()
    .default(true)
    .describe("Shorten command output for models; false: run_cmd and te_run answer raw."),
  script_path: z
    .string()
    .default("")
    .meta({ path: true })
    .describe('Another program in place of our own te; it is called as "te --json COMMAND" inside the sandbox.'),
  json_mode: z.boolean().default(true).describe("false: te_run answers with the text that te prints."),
  timeout: z.number().positive().default(30).describe("Seconds a command run by te may take when the call names none."),
  passthrough_on_failure: z
    .boolean()
    .default(true)
    .describe("When te itself fails, answer with the plain output; false: with an error."),
  store_arguments: z
    .boolean()
    .default(false)
    .describe("Keep the arguments of commands in the telemetry; otherwise only their hash."),
});

/** [tool_envelope.budgets] */
export const budgetOptions = z
  .record(z.string(), z.int().min(0))
  .default({})
  .describe(
    "Characters of output: per_call (8000) for one answer, default (200000) or an agent's id or profile for a session; spent ones make answers shorter, 0 means no limit.",
  );

export type TeOptions = z.output<typeof teOptions>;
export type BudgetOptions = z.output<typeof budgetOptions>;
