import * as z from "zod";
import { Fault } from "../base/fault.ts";
import { nearest } from "../base/text.ts";
import type { Tool } from "./tool.ts";

type Json = Record<string, unknown>;

/**
 * The schema of a tool's arguments as clients get it. `portable` leaves out what a model does not need to call it right (the
 * run checks it all the same); `full` states every bound and rule.
 */
export function wireInput(tool: Tool, dialect: "portable" | "full"): Json {
  const schema = slim(z.toJSONSchema(tool.input, { io: "input" }) as Json, dialect === "portable");
  if (dialect === "full" && tool.exactly_one)
    schema["oneOf"] = tool.exactly_one.map((name) => ({
      required: [name],
      not: { anyOf: tool.exactly_one!.filter((other) => other !== name).map((other) => ({ required: [other] })) },
    }));
  return schema;
}

export function wireOutput(tool: Tool): Json {
  return slim(z.toJSONSchema(tool.output(), { io: "output", unrepresentable: "any" }) as Json, false);
}

/** Limits that nobody meets by accident: paid by every conversation, useful to none. */
const HIGH = 10_000;

function slim(node: Json, portable: boolean): Json {
  const kept: Json = {};
  for (const [key, value] of Object.entries(node)) {
    if (key === "$schema" || key === "additionalProperties") continue;
    if ((key === "maximum" || key === "minimum") && Math.abs(value as number) === Number.MAX_SAFE_INTEGER) continue;
    if (portable && (key === "minimum" || key === "exclusiveMinimum") && (value as number) <= 1) continue;
    if (portable && key === "maximum" && (value as number) > HIGH) continue;
    if (portable && (key === "minLength" || key === "minItems") && value === 1) continue;
    if (key === "properties")
      kept[key] = Object.fromEntries(
        Object.entries(value as Json).map(([name, child]) => [name, slim(child as Json, portable)]),
      );
    else kept[key] = slimValue(value, portable);
  }
  return kept;
}

function slimValue(value: unknown, portable: boolean): unknown {
  if (Array.isArray(value)) return value.map((item) => slimValue(item, portable));
  return typeof value === "object" && value !== null ? slim(value as Json, portable) : value;
}

/** Arguments as the tool's run gets them, or a fault that says which one is wrong and how. */
export function validate(tool: Tool, given: unknown): Record<string, unknown> {
  if (given !== undefined && (typeof given !== "object" || given === null || Array.isArray(given)))
    throw new Fault("invalid_args", `${tool.name} takes an object of arguments.`);
  const args = renamed(tool, (given ?? {}) as Json);
  const result = z.safeParse(tool.input, args);
  if (!result.success) throw badArgument(tool, args, result.error.issues[0]!);
  const unknown = Object.keys(args).find((name) => !Object.hasOwn(tool.input.shape, name));
  if (unknown !== undefined) throw unknownArgument(tool, unknown);
  if (tool.exactly_one) requireExactlyOne(tool, args);
  return result.data as Record<string, unknown>;
}

/** Aliases take their real names; null means "not given". */
function renamed(tool: Tool, given: Json): Json {
  const args: Json = Object.create(null) as Json;
  const aliases = tool.argument_aliases ?? {};
  for (const [name, value] of Object.entries(given)) {
    if (value === null) continue;
    const real = Object.hasOwn(aliases, name) ? aliases[name]! : name;
    if (Object.hasOwn(args, real))
      throw new Fault("invalid_args", `${name} and ${real} are the same argument: give one.`);
    args[real] = value;
  }
  return args;
}

function requireExactlyOne(tool: Tool, args: Json): void {
  const names = tool.exactly_one!;
  const given = names.filter((name) => args[name] !== undefined);
  if (given.length === 1) return;
  const problem = given.length === 0 ? "none was given" : `${given.join(" and ")} were given`;
  throw new Fault("invalid_args", `${tool.name} takes exactly one of ${names.join(", ")}; ${problem}.`);
}

function badArgument(tool: Tool, args: Json, issue: z.core.$ZodIssue): Fault {
  const name = issue.path.join(".");
  const missing = issue.path.length === 1 && args[name] === undefined;
  if (!missing) return new Fault("invalid_args", `${name || tool.name}: ${issue.message}`);
  const stray = Object.keys(args).find((given) => !Object.hasOwn(tool.input.shape, given));
  return new Fault(
    "invalid_args",
    `${tool.name} needs ${name}.`,
    stray === undefined ? {} : { hint: `It has no argument ${stray}.` },
  );
}

function unknownArgument(tool: Tool, name: string): Fault {
  const names = Object.keys(tool.input.shape);
  const close = nearest(name, names);
  const takes = names.length === 0 ? "It takes none." : `It takes ${names.join(", ")}.`;
  return new Fault("invalid_args", `${tool.name} has no argument ${name.slice(0, 60)}.`, {
    hint: close ? `Did you mean ${close}? ${takes}` : takes,
  });
}
