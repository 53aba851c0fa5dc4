import { wireInput, wireOutput } from "../core/schema.ts";
import type { Tool } from "../core/tool.ts";

type Json = Record<string, unknown>;

/** The files that tell code what it may call, generated from the list. */
export function stubFiles(tools: readonly Tool[]): Record<string, string> {
  return { "index.md": indexPage(tools), "tools.d.ts": typescriptStubs(tools), "tools.pyi": pythonStubs(tools) };
}

/** How many optional arguments the page of all tools names: `tools.help` tells the rest. */
const INDEXED = 2;

/** One line a tool: what it is called with and what it does, in its first sentence. */
export function indexPage(tools: readonly Tool[]): string {
  const lines = tools.map((tool) => `${signature(tool, INDEXED)}: ${tool.description.replace(/\. .*$/, ".")}`);
  return `${lines.join("\n")}\n`;
}

/** `name(required, optional?)`: enough to guess the rest. */
export function signature(tool: Tool, max_optional = Number.POSITIVE_INFINITY): string {
  const { required, properties } = inputOf(tool);
  const names = Object.keys(properties);
  const optional = names.filter((name) => !required.has(name));
  const left_out = new Set(optional.slice(max_optional));
  const shown = names.filter((name) => !left_out.has(name)).map((name) => (required.has(name) ? name : `${name}?`));
  return `${tool.name}(${[...shown, ...(left_out.size > 0 ? ["…"] : [])].join(", ")})`;
}

/** What `tools.help(name)` says: a declaration with types, and what comes back. */
export function declaration(tool: Tool): string {
  return `/** ${tool.description} */\n${tool.name}(args: ${typeText(wireInput(tool, "full"), "")}): Promise<${typeText(wireOutput(tool), "")}>`;
}

export function typescriptStubs(tools: readonly Tool[]): string {
  const members = tools.map((tool) => indented(`${declaration(tool)};`));
  return [
    "/** In execute_code: await tools.<name>({...}). A fault is a ToolError with code, message and hint. */",
    "declare const tools: {",
    ...members,
    "  /** Tools that fit a few words. */",
    "  search(words: string): Promise<string[]>;",
    "  /** The declaration of one tool. */",
    "  help(name: string): Promise<string>;",
    "};",
    "declare class ToolError extends Error { code: string; hint?: string }",
    "",
  ].join("\n");
}

export function pythonStubs(tools: readonly Tool[]): string {
  const methods = tools.map((tool) => {
    const { required, properties } = inputOf(tool);
    const names = Object.keys(properties);
    const sorted = [...names.filter((name) => required.has(name)), ...names.filter((name) => !required.has(name))];
    const params = sorted.map(
      (name) => `${name}: ${pythonType(properties[name]!)}${required.has(name) ? "" : " = ..."}`,
    );
    const list = params.length === 0 ? "self" : `self, *, ${params.join(", ")}`;
    return `    def ${tool.name}(${list}) -> ${pythonType(wireOutput(tool))}:\n        """${tool.description}"""`;
  });
  return [
    '"""In execute_code: tools.<name>(argument=value) or tools.<name>({...}). A fault is a ToolError with code, message and hint."""',
    "from typing import Any, Literal",
    "",
    "class Tools:",
    ...methods,
    "    def search(self, words: str) -> list[str]: ...",
    "    def help(self, name: str) -> str: ...",
    "",
    "tools: Tools",
    "",
  ].join("\n");
}

function inputOf(tool: Tool): { required: Set<string>; properties: Record<string, Json> } {
  const schema = wireInput(tool, "portable");
  return {
    required: new Set((schema["required"] as string[] | undefined) ?? []),
    properties: (schema["properties"] as Record<string, Json> | undefined) ?? {},
  };
}

/** A JSON schema as a TypeScript type. */
export function typeText(schema: Json, indent: string, bulk?: string): string {
  if (Array.isArray(schema["enum"])) return schema["enum"].map((value) => JSON.stringify(value)).join(" | ");
  if (schema["const"] !== undefined) return JSON.stringify(schema["const"]);
  const union = (schema["anyOf"] ?? (schema["properties"] ? undefined : schema["oneOf"])) as Json[] | undefined;
  if (union) return union.map((child) => typeText(child, indent)).join(" | ");
  if (Array.isArray(schema["type"])) return schema["type"].join(" | ");
  if (schema["type"] === "array") return `${wrapped(typeText((schema["items"] as Json | undefined) ?? {}, indent))}[]`;
  if (schema["type"] === "integer") return "number";
  if (schema["type"] !== "object") return (schema["type"] as string | undefined) ?? "unknown";
  const properties = schema["properties"] as Record<string, Json> | undefined;
  if (!properties) return "Record<string, unknown>";
  const required = new Set((schema["required"] as string[] | undefined) ?? []);
  const inner = `${indent}  `;
  const lines = Object.entries(properties).map(
    ([name, child]) =>
      `${inner}${name}${required.has(name) ? "" : "?"}: ${typeText(child, inner)};${name === bulk ? " // bulk" : ""}`,
  );
  return lines.length === 0 ? "{}" : `{\n${lines.join("\n")}\n${indent}}`;
}

const PYTHON: Readonly<Record<string, string>> = {
  string: "str",
  integer: "int",
  number: "float",
  boolean: "bool",
  null: "None",
};

function pythonType(schema: Json): string {
  if (Array.isArray(schema["enum"]))
    return `Literal[${schema["enum"].map((value) => JSON.stringify(value)).join(", ")}]`;
  const union = schema["anyOf"] as Json[] | undefined;
  if (union) return union.map(pythonType).join(" | ");
  if (schema["type"] === "array") return `list[${pythonType((schema["items"] as Json | undefined) ?? {})}]`;
  if (schema["type"] === "object") return "dict[str, Any]";
  return PYTHON[String(schema["type"])] ?? "Any";
}

function wrapped(type: string): string {
  return type.includes(" | ") ? `(${type})` : type;
}

function indented(text: string): string {
  return text.replace(/^/gm, "  ");
}
