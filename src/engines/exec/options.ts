import * as z from "zod";
import { NEVER, PROJECT_CODE, READERS, SHELLS } from "./names.ts";

const name = z.string().regex(/^[^\s\0]+$/, "a command is one word");
const commandClass = z.enum(["reader", "project_code", "shell"]);

const policy = z
  .strictObject({
    class: commandClass.optional().describe("Treat the command as reader, project_code or shell"),
    allow_flags: z
      .array(z.string().startsWith("-"))
      .default([])
      .describe(
        'Flags allowed besides the built-in ones: "-x", "--flag=" (takes a value), "--file=path" (a path inside the roots)',
      ),
    deny_flags: z.array(z.string().startsWith("-")).default([]).describe("Flags refused, whatever else allows them"),
    subcommands: z.array(z.string()).optional().describe("The only subcommands allowed (first word after the command)"),
  })
  .describe("Argument policy of one command, on top of the built-in one");

const executable = z
  .strictObject({
    command: z.array(z.string().min(1)).min(1).describe("Program and first arguments; the caller's arguments follow"),
    description: z.string().default("").describe("What the model reads about the tool"),
    class: commandClass
      .default("project_code")
      .describe("reader: trusted, runs on the host; else it runs in the sandbox"),
  })
  .describe("A tool of its own for one program");

/** The keys of [mcp.tools] that say what may run. */
export const execOptions = z.object({
  enable_run_cmd: z.boolean().default(true).describe("Whether commands may run at all"),
  run_cmd_allowlist: z
    .array(name)
    .default([...READERS, ...PROJECT_CODE])
    .describe(
      "Commands that may run; a shell or an unknown program runs only when it is listed here, and then in the sandbox",
    ),
  run_cmd_trust: z
    .enum(["sandbox", "host"])
    .default("sandbox")
    .describe(
      '"host" lets project code run without a sandbox where bubblewrap does not work; it can then read what the server can',
    ),
  exec_timeout: z.number().positive().default(30).describe("Seconds a command may take when the call names no timeout"),
  exec_timeout_max: z.number().positive().default(1800).describe("The longest timeout a call may ask for, in seconds"),
  allow_outbound_network: z
    .boolean()
    .default(false)
    .describe("Network for project code in the sandbox (npm install needs it)"),
  proc_max: z.int().min(1).max(256).default(16).describe("Background processes one caller may have at a time"),
  proc_idle_timeout: z
    .number()
    .positive()
    .default(3600)
    .describe("Seconds without a read or send after which a background process is stopped"),
  proc_kill_foreign: z
    .boolean()
    .default(false)
    .describe("Whether linux_proc_kill may signal processes of the same user that llmc did not start"),
  executables: z
    .record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_-]{0,63}$/, "a tool name: letters, digits, _ and -"), executable)
    .default({})
    .describe("Programs offered as tools of their own"),
  policy: z.record(name, policy).default({}).describe("Argument policies by command"),
});

export type ExecOptions = z.output<typeof execOptions>;
export type PolicyOption = z.output<typeof policy>;
export type ExecutableOption = z.output<typeof executable>;

/** What an operator should read at start about these options. */
export function execWarnings(options: ExecOptions): string[] {
  const listed = options.run_cmd_allowlist.map((word) => word.slice(word.lastIndexOf("/") + 1));
  const shells = listed.filter((word) => SHELLS.includes(word));
  const never = listed.filter((word) => NEVER.includes(word) && options.policy[word]?.class === undefined);
  return [
    ...(shells.length > 0
      ? [`mcp.tools.run_cmd_allowlist lists shells (${shells.join(", ")}): they run anything, inside the sandbox.`]
      : []),
    ...(never.length > 0
      ? [`mcp.tools.run_cmd_allowlist lists ${never.join(", ")}, which never run as commands.`]
      : []),
    ...(options.run_cmd_trust === "host"
      ? [
          'mcp.tools.run_cmd_trust is "host": where bubblewrap does not work, project code can read what the server can.',
        ]
      : []),
  ];
}
