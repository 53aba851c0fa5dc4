import { serveEntry } from "./client/entry.ts";

/** For someone who started the server by hand: what to paste where. */
export function welcome(root: string): string {
  const entry = serveEntry(root);
  return [
    "",
    `LLMC is running for ${root} and waits for a client on stdin. Ctrl-C ends it.`,
    "",
    "Claude Desktop, Cursor, Antigravity (mcpServers in their config file), Claude Code (.mcp.json):",
    "",
    JSON.stringify({ mcpServers: { llmc: entry } }, null, 2),
    "",
    "VS Code (.vscode/mcp.json):",
    "",
    JSON.stringify({ servers: { llmc: { type: "stdio", ...entry } } }, null, 2),
    "",
    `Claude Code in one line:  claude mcp add llmc -- ${[entry.command, ...entry.args].join(" ")}`,
    "llmc client add writes these for you.",
    "",
  ].join("\n");
}
