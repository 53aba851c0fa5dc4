import * as z from "zod";

export const hybridOptions = z.strictObject({
  promoted_tools: z
    .array(z.string())
    .default(["linux_fs_write", "linux_fs_edit", "run_cmd"])
    .describe("Tools listed besides read_file and list_dir."),
  include_execute_code: z.boolean().default(true).describe("List execute_code as well."),
  bootstrap_budget_warning: z
    .int()
    .min(1)
    .default(15_000)
    .describe("Characters of tool list and instructions above which a warning is logged."),
});

export const codeExecutionOptions = z.strictObject({
  enabled: z.boolean().default(false).describe("Without a mode, true selects code_execution."),
  bootstrap_tools: z
    .array(z.string())
    .default(["read_file", "list_dir", "execute_code"])
    .describe("Tools listed in code_execution mode."),
});

export const resourceOptions = z.strictObject({
  sidecars: z
    .array(z.string())
    .default([])
    .meta({ path: true })
    .describe("Documents offered as resources llmc://docs/<name>."),
});

export type HybridOptions = z.output<typeof hybridOptions>;
export type CodeExecutionOptions = z.output<typeof codeExecutionOptions>;
export type ResourceOptions = z.output<typeof resourceOptions>;
