import * as z from "zod";
import { storeOptions } from "../base/store/options.ts";
import { limitOptions, MODES, outputOptions, sessionOptions } from "../core/options.ts";
import { budgetOptions, teOptions } from "../engines/envelope/options.ts";
import { execOptions } from "../engines/exec/options.ts";
import { maaslOptions } from "../engines/fs/options.ts";
import { handlesOptions } from "../engines/handles/options.ts";
import { ragOptions, ragSearchOptions } from "../engines/rag/options.ts";
import { rlmOptions, rlmPolicyOptions } from "../engines/rlm/options.ts";
import { sandboxOptions } from "../engines/sandbox/options.ts";
import { searchOptions } from "../engines/search/options.ts";
import { auditOptions, observabilityOptions } from "../engines/telemetry/options.ts";
import { codeExecutionOptions, hybridOptions, resourceOptions } from "../tools/options.ts";
import { authOptions, httpLimitOptions, serverOptions } from "../transports/http/options.ts";

const roots = z.array(z.string()).meta({ path: true });

const tools = z.strictObject({
  allowed_roots: roots
    .optional()
    .describe("Folders that tools may reach; the first is where relative paths start. Default: the repository root."),
  enforce_roots: z.boolean().default(true).describe("false lets tools reach every path that is not denied."),
  denied_paths: z
    .array(z.string())
    .default([])
    .describe(
      'More names that may not be written, after the built-in ones. "rw:" before one denies reading too, "!" lifts an earlier rule, "/" ties it to the root.',
    ),
  disabled: z.array(z.string()).default([]).describe("Tools that cannot be called at all."),
  read_timeout: z.number().positive().default(10).describe("Seconds for one file or search operation."),
  idle_timeout: z.number().positive().default(60).describe("Seconds that a stopping server waits for calls under way."),
  ...execOptions.shape,
});

/** The one schema. Each part brings its own keys; a key that nothing reads is not here. */
export const configSchema = z.strictObject({
  mcp: z
    .strictObject({
      enabled: z.boolean().default(true).describe("false: refuse to serve."),
      config_version: z.literal("v0").default("v0").describe("Version of this file's format."),
      mode: z
        .enum(MODES)
        .optional()
        .describe("classic, hybrid or code_execution. Default: hybrid without a config file, classic with one."),
      bootstrap_tool_name: z
        .enum(["llmc_init", "00_INIT", ""])
        .default("llmc_init")
        .describe('Name of the bootstrap tool; "" leaves it out.'),
      schema_dialect: z
        .enum(["portable", "full"])
        .default("portable")
        .describe("full also states rules that some clients refuse (oneOf)."),
      state_dir: z
        .string()
        .default(".llmc")
        .meta({ path: true })
        .describe("Where handles, locks, telemetry and the index live."),
      store: storeOptions.prefault({}),
      tools: tools.prefault({}),
      linux_ops: z
        .strictObject({
          roots: z
            .strictObject({
              allowed_roots: roots.optional().describe("Alias of mcp.tools.allowed_roots."),
              enforce_roots: z.boolean().optional().describe("Alias of mcp.tools.enforce_roots."),
            })
            .prefault({}),
        })
        .prefault({}),
      hybrid: hybridOptions.prefault({}),
      code_execution: codeExecutionOptions.prefault({}),
      output: outputOptions.prefault({}),
      limits: z.strictObject({ ...limitOptions.shape, ...httpLimitOptions.shape }).prefault({}),
      server: serverOptions.prefault({}),
      auth: authOptions.prefault({}),
      session: sessionOptions.prefault({}),
      te: teOptions.prefault({}),
      resources: resourceOptions.prefault({}),
      search: searchOptions.prefault({}),
      rag: ragSearchOptions.prefault({}),
      rlm: rlmPolicyOptions.prefault({}),
      sandbox: sandboxOptions.prefault({}),
      handles: handlesOptions.prefault({}),
      maasl: maaslOptions.prefault({}),
      observability: observabilityOptions.prefault({}),
      audit: auditOptions.prefault({}),
    })
    .prefault({}),
  rag: ragOptions.prefault({}),
  rlm: rlmOptions.prefault({}),
  tool_envelope: z.strictObject({ budgets: budgetOptions }).prefault({}),
});

export type Config = z.output<typeof configSchema>;
