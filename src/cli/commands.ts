import { type Command, type Flag, JSON_FLAG, MODE_FLAG, WHERE_FLAGS } from "./command.ts";

const CLIENT_FLAGS: readonly Flag[] = [
  WHERE_FLAGS[0]!,
  { name: "name", value: "NAME", about: "The server's name in the client (default llmc)" },
];

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
    name: "search",
    args: "WORDS",
    about: "Find the code or docs that a question or an error text is about",
    flags: [
      ...WHERE_FLAGS,
      { name: "scope", value: "SCOPE", about: "repo, docs or both" },
      { name: "k", value: "N", about: "Snippets at most (mcp.rag.top_k bounds it)" },
      { name: "budget-tokens", value: "N", about: "Tokens at most (mcp.rag.token_budget bounds it)" },
      JSON_FLAG,
    ],
    examples: ["llmc search 'where is retry backoff decided'"],
    load: () => import("./search.ts"),
  },
  {
    name: "index",
    about: "Bring the index of the repository up to date",
    flags: [
      ...WHERE_FLAGS,
      { name: "dry-run", about: "Only say how much there is and how long it would take" },
      { name: "watch", about: "Go on until interrupted, indexing what is saved" },
      { name: "force", about: "Index this root though it is a home folder or /" },
      JSON_FLAG,
    ],
    examples: ["llmc index --dry-run"],
    load: () => import("./index-cmd.ts"),
  },
  {
    name: "client add",
    args: "[CLIENT...]",
    about: "Register with MCP clients: those named, or all found",
    flags: CLIENT_FLAGS,
    examples: ["llmc client add claude-code cursor"],
    load: async () => ({ run: (await import("./client.ts")).add }),
  },
  {
    name: "client remove",
    args: "[CLIENT...]",
    about: "Undo that, byte for byte where nothing else changed",
    flags: CLIENT_FLAGS,
    load: async () => ({ run: (await import("./client.ts")).remove }),
  },
  {
    name: "client list",
    about: "Which clients are here, and which know this server",
    flags: [WHERE_FLAGS[0]!, JSON_FLAG],
    load: async () => ({ run: (await import("./client.ts")).list }),
  },
  {
    name: "config show",
    about: "The effective configuration, and where each value came from",
    flags: [...WHERE_FLAGS, MODE_FLAG, JSON_FLAG],
    load: () => import("./config-show.ts"),
  },
  {
    name: "repo validate",
    about: "Check the configuration and all it names",
    flags: [...WHERE_FLAGS, JSON_FLAG],
    load: () => import("./repo-validate.ts"),
  },
  {
    name: "policy explain",
    args: "COMMAND",
    about: "Whether a command may run, and by which rule",
    flags: [...WHERE_FLAGS],
    examples: ["llmc policy explain 'git log -p'"],
    load: () => import("./policy-explain.ts"),
  },
  {
    name: "stats",
    about: "Calls, times and tokens saved by te, by command and by agent",
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
