import type { z } from "zod";
import { configSchema } from "./schema.ts";

export type KeyKind = "string" | "number" | "boolean" | "list" | "enum" | "table";

/** One configuration key, read off the schema: everything generated about keys starts here. */
export interface Key {
  readonly path: string;
  readonly env: string;
  readonly kind: KeyKind;
  readonly choices: readonly string[];
  readonly default: unknown;
  readonly description: string;
  /** A file name: relative ones start at the file they stand in. */
  readonly is_path: boolean;
  readonly secret: boolean;
}

/** The parts of zod's definitions that this file looks at. */
interface Definition {
  readonly type: string;
  readonly innerType?: z.ZodType;
  readonly defaultValue?: unknown;
  readonly entries?: Record<string, string>;
  readonly values?: readonly unknown[];
  readonly shape?: Record<string, z.ZodType>;
  readonly element?: z.ZodType;
}

function definition(schema: z.ZodType): Definition {
  return schema.def as unknown as Definition;
}

interface Unwrapped {
  readonly schema: z.ZodType;
  readonly default: unknown;
  readonly description: string;
  readonly meta: Record<string, unknown>;
}

function unwrap(schema: z.ZodType): Unwrapped {
  let fallback: unknown;
  let description = "";
  let meta: Record<string, unknown> = {};
  let current = schema;
  for (;;) {
    const { type, innerType, defaultValue } = definition(current);
    meta = { ...(current.meta() ?? {}), ...meta };
    description ||= (meta["description"] as string | undefined) ?? "";
    if (type === "default") fallback ??= defaultValue;
    if (!innerType || !["default", "optional", "nullable", "prefault"].includes(type)) break;
    current = innerType;
  }
  return { schema: current, default: fallback, description, meta };
}

const KINDS: Readonly<Record<string, KeyKind>> = {
  string: "string",
  number: "number",
  int: "number",
  boolean: "boolean",
  array: "list",
  enum: "enum",
  literal: "enum",
};

function walk(schema: z.ZodType, path: readonly string[]): Key[] {
  const inner = unwrap(schema);
  const { type, shape, entries, values, element } = definition(inner.schema);
  if (type === "object" && shape) return Object.entries(shape).flatMap(([name, child]) => walk(child, [...path, name]));
  return [
    {
      path: path.join("."),
      env: `LLMC_${path.join("_").toUpperCase()}`,
      kind:
        type === "array" && definition(unwrap(element!).schema).type !== "string" ? "table" : (KINDS[type] ?? "table"),
      choices: entries ? Object.values(entries) : values ? values.map(String) : [],
      default: inner.default,
      description: inner.description,
      is_path: inner.meta["path"] === true,
      secret: inner.meta["secret"] === true,
    },
  ];
}

let keys: readonly Key[] | undefined;

/** Every key there is, in the schema's order. */
export function allKeys(): readonly Key[] {
  keys ??= walk(configSchema, []);
  return keys;
}

/** The names known below a table, or undefined where any name goes (a leaf, or a table the operator fills). */
export function namesBelow(path: readonly string[]): readonly string[] | undefined {
  let schema: z.ZodType = configSchema;
  for (const part of path) {
    const { type, shape } = definition(unwrap(schema).schema);
    if (type !== "object" || !shape || !Object.hasOwn(shape, part)) return undefined;
    schema = shape[part]!;
  }
  const { type, shape } = definition(unwrap(schema).schema);
  return type === "object" && shape ? Object.keys(shape) : undefined;
}
