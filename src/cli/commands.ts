import { type Command, JSON_FLAG, MODE_FLAG, WHERE_FLAGS } from "./command.ts";

/** Every command of the binary. */
export const COMMANDS: readonly Command[] = [
  {
    name: "serve",
    about: "Serve MCP on stdin and stdout, or over HTTP",
    flags: [
      ...WHERE_FLAGS,
      MODE_FLAG,
      { name: "log-level", value: "LEVEL", about: "debug, info, warn or error" },
      { name: "http", about: "Serve over HTTP instead: MCP at /mcp, plain JSON beside it" },
      { name: "host", value: "ADDRESS", about: "With --http: where to listen (default 127.0.0.1)" },
      { name: "port", value: "N", about: "With --http: the port (default 8080)" },
      { name: "welcome", about: "Print what to paste into a client (also when started by hand)" },
    ],
    examples: [
      "llmc serve --root ~/src/project",
      "LLMC_MCP_TOKEN=$(openssl rand -hex 32) llmc serve --http --port 8080",
    ],
    load: () => import("./serve.ts"),
  },
  {
    name: "tools",
    about: "What a model would see, with the tokens of each tool",
    flags: [...WHERE_FLAGS, MODE_FLAG, JSON_FLAG],
    examples: ["llmc tools --mode classic"],
    load: () => import("./tools.ts"),
  },
  {
    name: "call",
    args: "TOOL [JSON]",
    about: "Make one call through the same door as a client, and print the reply",
    flags: [
      ...WHERE_FLAGS,
      MODE_FLAG,
      { name: "data", about: "Print the whole payload, as code in the sandbox gets it" },
    ],
    examples: [`llmc call list_dir '{"path":"."}'`],
    load: () => import("./call.ts"),
  },
  {
    name: "config show",
    about: "The effective configuration, and where each value came from",
    flags: [...WHERE_FLAGS, MODE_FLAG, JSON_FLAG],
    load: () => import("./config-show.ts"),
  },
  {
    name: "repo validate",
    about: "Check the config file and all it names; exit 1 when something must be mended",
    flags: [...WHERE_FLAGS, JSON_FLAG],
    load: () => import("./repo-validate.ts"),
  },
  {
    name: "policy explain",
    args: "COMMAND",
    about: "Whether a command may run, by which rule, how shut in, and what would change it",
    flags: [...WHERE_FLAGS],
    examples: ["llmc policy explain 'git log -p'"],
    load: () => import("./policy-explain.ts"),
  },
  {
    name: "stats",
    about: "Commands run through te: calls, times and tokens saved, by command and by agent",
    flags: [...WHERE_FLAGS, JSON_FLAG],
    load: () => import("./stats.ts"),
  },
  {
    name: "audit",
    about: "Read the audit trail",
    flags: [
      ...WHERE_FLAGS,
      { name: "tool", value: "NAME", about: "Only calls of this tool" },
      { name: "principal", value: "NAME", about: "Only calls of this caller" },
      { name: "path", value: "TEXT", about: "Only calls on a path that holds this text" },
      { name: "code", value: "CODE", about: 'Only this outcome; "error" for any failure' },
      { name: "id", value: "ID", about: "Only this correlation id" },
      { name: "since", value: "TIME", about: "From then on: a date, or 30m, 2h, 7d ago" },
      { name: "limit", value: "N", about: "The last N records (default 50, 0 for all)" },
      JSON_FLAG,
    ],
    examples: ["llmc audit --code error --since 2h"],
    load: () => import("./audit.ts"),
  },
];
