import { existsSync } from "node:fs";
import { join } from "node:path";

/** Where a person's own files are looked for. */
export interface Places {
  readonly home: string;
  /** The project that is registered. */
  readonly root: string;
  /** XDG_CONFIG_HOME, or ~/.config. */
  readonly config: string;
  /** CODEX_HOME, or ~/.codex. */
  readonly codex: string;
}

/** A program that can start an MCP server, and the file in which it is told so. */
export interface Client {
  readonly id: string;
  readonly title: string;
  /** `project`: the file lies in the repository. `user`: one file for all projects. */
  readonly scope: "project" | "user";
  readonly format: "json" | "toml";
  /** The table of servers in the file. */
  readonly table: string;
  /** What the entry holds besides command and args. */
  readonly extra?: Readonly<Record<string, string>>;
  file(places: Places): string;
  /** Any of these shows that the client is used here. */
  signs(places: Places): readonly string[];
}

/** The clients whose files we know, as their documentation has them. */
export const CLIENTS: readonly Client[] = [
  {
    id: "claude-desktop",
    title: "Claude Desktop",
    scope: "user",
    format: "json",
    table: "mcpServers",
    file: ({ config }) => join(config, "Claude", "claude_desktop_config.json"),
    signs: ({ config }) => [join(config, "Claude")],
  },
  {
    id: "claude-code",
    title: "Claude Code",
    scope: "project",
    format: "json",
    table: "mcpServers",
    file: ({ root }) => join(root, ".mcp.json"),
    signs: ({ home, root }) => [
      join(home, ".claude.json"),
      join(home, ".claude"),
      join(root, ".mcp.json"),
      join(root, ".claude"),
    ],
  },
  {
    id: "cursor",
    title: "Cursor",
    scope: "project",
    format: "json",
    table: "mcpServers",
    file: ({ root }) => join(root, ".cursor", "mcp.json"),
    signs: ({ home, root }) => [join(home, ".cursor"), join(root, ".cursor")],
  },
  {
    id: "vscode",
    title: "VS Code",
    scope: "project",
    format: "json",
    table: "servers",
    extra: { type: "stdio" },
    file: ({ root }) => join(root, ".vscode", "mcp.json"),
    signs: ({ home, root, config }) => [join(config, "Code"), join(home, ".vscode"), join(root, ".vscode")],
  },
  {
    id: "gemini",
    title: "Gemini CLI",
    scope: "user",
    format: "json",
    table: "mcpServers",
    file: ({ home }) => join(home, ".gemini", "settings.json"),
    signs: ({ home }) => [join(home, ".gemini", "settings.json")],
  },
  {
    id: "antigravity",
    title: "Antigravity",
    scope: "user",
    format: "json",
    table: "mcpServers",
    // Newer versions share one file among editor and command line; older ones have it in the editor's own folder.
    file: ({ home }) =>
      join(home, ".gemini", existsSync(join(home, ".gemini", "config")) ? "config" : "antigravity", "mcp_config.json"),
    signs: ({ home }) => [join(home, ".gemini", "config"), join(home, ".gemini", "antigravity")],
  },
  {
    id: "codex",
    title: "Codex",
    scope: "user",
    format: "toml",
    table: "mcp_servers",
    file: ({ codex }) => join(codex, "config.toml"),
    signs: ({ codex }) => [codex],
  },
  {
    id: "zed",
    title: "Zed",
    scope: "user",
    format: "json",
    table: "context_servers",
    file: ({ config }) => join(config, "zed", "settings.json"),
    signs: ({ config }) => [join(config, "zed")],
  },
];

export function isFound(client: Client, places: Places): boolean {
  return client.signs(places).some((path) => existsSync(path));
}
