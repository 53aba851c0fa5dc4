import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { wireInput, wireOutput } from "../../src/core/schema.ts";
import type { Tool } from "../../src/core/tool.ts";
import { aliasesOf } from "../../src/tools/aliases.ts";
import { TOOLS } from "../../src/tools/index.ts";
import { typeText } from "../../src/tools/stubs.ts";
import { annotationsOf, listTools } from "../../src/tools/surface.ts";

type Json = Record<string, unknown>;

/** What clients see of each tool: a difference shows in review. */
export function toolSnapshots(): [string, string][] {
  return TOOLS.map((tool) => {
    const [listed] = listTools([tool], { dialect: "portable", structured: false });
    return [
      tool.name,
      `${JSON.stringify({ tokens: countTokens(JSON.stringify(listed)), effects: tool.effects, listed, output: wireOutput(tool) }, null, 2)}\n`,
    ];
  });
}

export function toolReference(): string {
  return [
    "# Tools",
    "",
    "Generated from the definitions (`npm run gen`). Payloads are what code and REST get, and what a model gets in the json format;",
    "in the lean format the field marked *bulk* follows a line of compact JSON, unescaped.",
    "",
    ...TOOLS.flatMap(section),
  ].join("\n");
}

function section(tool: Tool): string[] {
  const aliases = aliasesOf(tool.name);
  return [
    `## ${tool.name}`,
    "",
    tool.description,
    "",
    `Effects: ${tool.effects.join(", ")}.${aliases.length > 0 ? ` Also called ${aliases.map((alias) => `\`${alias}\``).join(", ")}.` : ""}`,
    "",
    ...argumentRows(tool),
    "Payload:",
    "",
    "```ts",
    typeText(wireOutput(tool), "", tool.bulk),
    "```",
    "",
  ];
}

function argumentRows(tool: Tool): string[] {
  const schema = wireInput(tool, "portable");
  const required = new Set((schema["required"] as string[] | undefined) ?? []);
  const entries = Object.entries((schema["properties"] as Record<string, Json> | undefined) ?? {});
  if (entries.length === 0) return ["No arguments.", ""];
  const rows = entries.map(
    ([name, property]) =>
      `| \`${name}\` | ${typeText(property, "").replaceAll("|", "\\|")} | ${required.has(name) ? "required" : defaultText(property)} | ${bounds(property)} |`,
  );
  const exclusive = tool.exactly_one
    ? [`Exactly one of ${tool.exactly_one.map((name) => `\`${name}\``).join(", ")}.`, ""]
    : [];
  return ["| argument | type | default | bounds |", "|---|---|---|---|", ...rows, "", ...exclusive];
}

function defaultText(property: Json): string {
  return property["default"] === undefined ? "–" : `\`${JSON.stringify(property["default"])}\``;
}

function bounds(property: Json): string {
  const parts = [
    property["minimum"] === undefined ? "" : `≥ ${property["minimum"]}`,
    property["maximum"] === undefined ? "" : `≤ ${property["maximum"]}`,
    property["maxLength"] === undefined ? "" : `≤ ${property["maxLength"]} characters`,
    (property["description"] as string | undefined) ?? "",
  ];
  return parts.filter(Boolean).join(", ");
}

export async function readmeTools(): Promise<string> {
  const rows = TOOLS.map(
    (tool) =>
      `| \`${tool.name}\` | ${tool.description.replaceAll("|", "\\|")} | ${annotationsOf(tool)?.readOnlyHint ? "read" : tool.effects.join(", ")} |`,
  );
  return ["| tool | what it does | effects |", "|---|---|---|", ...rows].join("\n");
}
