import type { z } from "zod";
import type { ToolContext } from "./context.ts";

/** Policy facts about a tool; MCP annotations are derived from them. */
export type Effect =
  /** looks and changes nothing */
  | "read"
  /** makes something new and destroys nothing */
  | "add"
  /** may overwrite or remove */
  | "change"
  /** runs programs or code */
  | "run"
  /** may send data off the machine */
  | "egress";

/** What a model reads in the lean format: one line of compact JSON, then the bulk as it is. */
export interface Lean {
  readonly head: Record<string, unknown>;
  readonly body?: string;
}

interface ToolSpec<Input extends z.ZodObject, Output extends z.ZodType> {
  readonly name: string;
  readonly title: string;
  /** Paid by every conversation: say only what a model that knows Linux cannot guess. */
  readonly description: string;
  readonly effects: readonly [Effect, ...Effect[]];
  readonly input: Input;
  /** Made when someone asks for it (documents, stubs, structured output): a start builds none of them. */
  readonly output: () => Output;
  /** The field of the payload that the lean format sends unescaped (a string, or a list of strings as lines). */
  readonly bulk?: string;
  /** Where one field is not enough: the lean form of a payload. */
  lean?(payload: z.output<Output>, args: z.output<Input>): Lean;
  /** The payload when only this much of its bulk goes out, for tools whose caller can go on from there: then no handle is made. */
  shortened?(payload: z.output<Output>, args: z.output<Input>, body: string): z.output<Output>;
  /** Argument spellings accepted besides the schema's own: alias -> name. */
  readonly argument_aliases?: Readonly<Record<string, string>>;
  /** Arguments of which exactly one must be given: checked when called; the full schema dialect says it too. */
  readonly exactly_one?: readonly string[];
  /** `read`: one file or search operation, held to mcp.tools.read_timeout. */
  readonly timed?: "read";
  /** Callers over the network need the operator's leave, which this key gives. */
  readonly leave_over_http?: "mcp.rlm.allow_http";
  /** Never becomes a job: it answers at once, or it is the tool that waits for jobs. */
  readonly never_late?: true;
  run(args: z.output<Input>, ctx: ToolContext): Promise<z.output<Output>>;
}

export interface Tool extends Omit<ToolSpec<z.ZodObject, z.ZodType>, "run" | "lean" | "shortened"> {
  run(args: Record<string, unknown>, ctx: ToolContext): Promise<unknown>;
  lean?(payload: unknown, args: Record<string, unknown>): Lean;
  shortened?(payload: unknown, args: Record<string, unknown>, body: string): unknown;
}

/** A tool is data. This only carries its types. */
export function defineTool<Input extends z.ZodObject, Output extends z.ZodType>(spec: ToolSpec<Input, Output>): Tool {
  return spec as unknown as Tool;
}
