import { allKeys } from "../../config/keys.ts";

/** What a new llmc.toml says, and what it only mentions: the keys that people change first. */
const CHOSEN: readonly (readonly [path: string, value: unknown, mention?: true])[] = [
  ["mcp.mode", "hybrid"],
  ["mcp.tools.allowed_roots", ["."]],
  ["mcp.tools.enforce_roots", true],
  ["mcp.tools.denied_paths", ["rw:*.pem", "rw:*.key"]],
  ["mcp.tools.allow_outbound_network", false],
  ["mcp.tools.exec_timeout", 30, true],
  ["mcp.output.max_tokens", undefined, true],
  ["mcp.resources.sidecars", undefined],
  ["mcp.server.port", undefined, true],
];

/** A commented configuration. Comments are the schema's own words, so they stay true. */
export function configText(sidecars: readonly string[]): string {
  const keys = new Map(allKeys().map((key) => [key.path, key]));
  let section = "";
  let text = `# LLMC for this repository. Tools reach only what lies below this folder, and write none of the names that make other
# programs run code (.git, .vscode, llmc.toml, ...). All keys: llmc config show. After a change: llmc doctor.
`;
  for (const [path, value, mention] of CHOSEN) {
    const { description, default: fallback } = keys.get(path)!;
    const parts = path.split(".");
    const name = parts.pop()!;
    if (parts.join(".") !== section) text += `\n[${(section = parts.join("."))}]\n`;
    const written = path === "mcp.resources.sidecars" ? sidecars : (value ?? fallback);
    text += `# ${description}\n${mention ? "# " : ""}${name} = ${toml(written)}\n`;
  }
  return text;
}

function toml(value: unknown): string {
  return Array.isArray(value) ? `[${value.map(toml).join(", ")}]` : JSON.stringify(value);
}
