import * as z from "zod";

const bytes = (value: number, text: string) =>
  z
    .int()
    .min(1024)
    .max(64 * 1024 * 1024)
    .default(value)
    .describe(text);

export const sandboxOptions = z.strictObject({
  wall_s: z
    .number()
    .positive()
    .max(86_400)
    .default(30)
    .describe("Longest run in seconds; a call's timeout_s is held to it."),
  memory_mb: z.int().min(16).max(4000).default(256).describe("Memory of one interpreter in MiB."),
  stdout_bytes: bytes(65_536, "Bytes of standard output that are kept; the rest is dropped as it is written."),
  stderr_bytes: bytes(65_536, "Bytes of standard error that are kept."),
  result_bytes: bytes(65_536, "Largest value of the last expression, as JSON."),
  code_bytes: bytes(262_144, "Longest program."),
  workspace_mb: z.int().min(1).max(2000).default(64).describe("Size of /workspace in MiB."),
  workspace_files: z.int().min(1).default(1000).describe("Files and folders in /workspace."),
  max_tool_calls: z.int().min(0).default(1000).describe("Tool calls that one run may make."),
  max_depth: z.int().min(1).max(8).default(2).describe("How deep code may run code through execute_code."),
  pool: z.int().min(0).max(8).default(1).describe("Interpreters of each runtime kept ready after the first use."),
  idle_s: z
    .number()
    .positive()
    .default(600)
    .describe("Seconds without use after which a session goes to disk and spare interpreters end."),
  hibernated_ttl_s: z.number().positive().default(604_800).describe("Seconds that an unused session is kept."),
  packages_dir: z
    .string()
    .optional()
    .meta({ path: true })
    .describe("Folder with more packages: python/ (wheels, zips, modules) and javascript/ (ES modules)."),
  require: z
    .enum(["process", "bwrap"])
    .default("process")
    .describe(
      "Least isolation around the interpreters: a process without rights, or bubblewrap around it. Less is refused.",
    ),
});

export type SandboxOptions = z.output<typeof sandboxOptions>;
