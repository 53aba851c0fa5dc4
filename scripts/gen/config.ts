import { allKeys, type Key } from "../../src/config/keys.ts";

const INTRO = `# Every key that llmc reads, with its default. Generated from the schema; copy what you change to llmc.toml.
# Precedence: command line, environment, this file, defaults. A key's variable is its path: mcp.output.format is
# LLMC_MCP_OUTPUT_FORMAT (lists comma-separated). Relative paths start at the folder of this file.
# A key that is not known is an error.
`;

/** A file that loads as it is. Keys without a default stand commented out. */
export function exampleToml(): string {
  let section = "";
  let text = INTRO;
  for (const key of allKeys()) {
    const parts = key.path.split(".");
    const name = parts.pop()!;
    if (parts.join(".") !== section) {
      section = parts.join(".");
      text += `\n[${section}]\n`;
    }
    text += `# ${key.description}${choices(key)}\n`;
    text +=
      key.default === undefined || key.kind === "table"
        ? `# ${name} = ${placeholder(key)}\n`
        : `${name} = ${toml(key.default)}\n`;
  }
  return text;
}

export function configReference(): string {
  const rows = allKeys().map(
    (key) =>
      `| \`${key.path}\` | ${key.default === undefined ? "–" : `\`${toml(key.default)}\``} | ${cell(key.description + choices(key))} |`,
  );
  return [
    "# Configuration",
    "",
    "Generated from the schema (`npm run gen`). `llmc config show` prints the values in force and where each came from;",
    "`llmc.example.toml` is this page as a file. Command line over environment over `llmc.toml` over default.",
    "The environment variable of a key is its path in upper case after `LLMC_`: `mcp.output.format` is `LLMC_MCP_OUTPUT_FORMAT`.",
    "Besides them: `LLMC_CONFIG`, `LLMC_ROOT`, `LLMC_STATE_DIR`, `LLMC_ISOLATED`.",
    "",
    "| key | default | what it does |",
    "|---|---|---|",
    ...rows,
    "",
  ].join("\n");
}

function choices(key: Key): string {
  return key.choices.length > 1 ? ` One of ${key.choices.map((choice) => JSON.stringify(choice)).join(", ")}.` : "";
}

function toml(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toml).join(", ")}]`;
  if (typeof value === "object" && value !== null) return "{}";
  return JSON.stringify(value);
}

function placeholder(key: Key): string {
  if (key.choices.length > 0) return JSON.stringify(key.choices[0]);
  return { string: '"…"', number: "0", boolean: "true", list: "[]", enum: '""', table: "{}" }[key.kind];
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|");
}
