import { Fault } from "../base/fault.ts";
import { nearest } from "../base/text.ts";
import type { ToolContext } from "../core/context.ts";
import type { Tool } from "../core/tool.ts";
import { canonicalName } from "./aliases.ts";
import { searchTools } from "./search-tools.ts";
import { declaration, signature } from "./stubs.ts";

interface CodeTools {
  /** What a call from code does: the same door as every other call, or an answer about the tools themselves. */
  callTool(name: string, args: Record<string, unknown>, signal: AbortSignal): Promise<unknown>;
  readonly tool_names: readonly string[];
}

/** Arguments given by place travel under this key. */
const BY_PLACE = "";

/** The tools as code sees them. */
export function codeTools(ctx: ToolContext): CodeTools {
  const tools = ctx.tools();
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  return {
    tool_names: [...byName.keys()],
    async callTool(name, args, signal) {
      const tool = byName.get(canonicalName(name));
      if (!tool && name === "search") return found(tools, wordIn(args, "words"));
      if (!tool && name === "help") return helpOn(byName, wordIn(args, "name"));
      return ctx.call(name, tool ? named(tool, args) : args, signal);
    },
  };
}

/** `tools.read_file("a.txt")` means the tool's first argument. */
function named(tool: Tool, args: Record<string, unknown>): Record<string, unknown> {
  const { [BY_PLACE]: places, ...rest } = args;
  if (!Array.isArray(places)) return args;
  const names = Object.keys(tool.input.shape);
  if (places.length > names.length)
    throw new Fault("invalid_args", `${tool.name} takes at most ${names.length} arguments.`, { hint: signature(tool) });
  return { ...Object.fromEntries(places.map((value, index) => [names[index]!, value])), ...rest };
}

function wordIn(args: Record<string, unknown>, name: string): string {
  const [first] = Array.isArray(args[BY_PLACE]) ? args[BY_PLACE] : [args[name]];
  if (typeof first === "string") return first;
  throw new Fault("invalid_args", `Give the ${name} as text.`);
}

const found = (tools: readonly Tool[], words: string): string[] =>
  searchTools(tools, words).map((tool) => `${signature(tool)}: ${tool.description}`);

function helpOn(byName: ReadonlyMap<string, Tool>, name: string): string {
  const tool = byName.get(canonicalName(name));
  if (tool) return declaration(tool);
  const close = nearest(name, byName.keys());
  throw new Fault("unknown_tool", `There is no tool ${name.slice(0, 60)}.`, {
    hint: close ? `Did you mean ${close}?` : 'tools.search("words") finds one.',
  });
}
