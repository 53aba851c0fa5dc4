import { Fault } from "../base/fault.ts";
import { nearest } from "../base/text.ts";
import type { ToolContext } from "../core/context.ts";
import type { Tool } from "../core/tool.ts";
import { canonicalName } from "./aliases.ts";
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
      if (!tool && name === "search") return searchTools(tools, wordIn(args, "words"));
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

const MOST = 8;

/** The tools whose name and description share most with the words, best first. */
export function searchTools(tools: readonly Tool[], words: string): string[] {
  const wanted = stems(words);
  const scored = tools.map((tool) => {
    const inName = stems(tool.name.replaceAll("_", " "));
    const inText = stems(`${tool.title} ${tool.description} ${Object.keys(tool.input.shape).join(" ")}`);
    const score = wanted.reduce(
      (sum, word) => sum + (inName.includes(word) ? 3 : 0) + (inText.includes(word) ? 1 : 0),
      0,
    );
    return { tool, score };
  });
  return scored
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, MOST)
    .map(({ tool }) => `${signature(tool)}: ${tool.description}`);
}

/** Words without their endings, and what people say for them. */
const MEANS: Readonly<Record<string, string>> = {
  folder: "dir",
  directory: "dir",
  find: "search",
  grep: "search",
  change: "edit",
  replace: "edit",
  create: "write",
  save: "write",
  execut: "run",
  shell: "run",
  command: "cmd",
  test: "pytest",
  process: "proc",
  remove: "delete",
  rename: "move",
};

function stems(text: string): string[] {
  const words = text.toLowerCase().match(/[a-z]+/g) ?? [];
  return words.flatMap((word) => {
    const stem = word.replace(/(ing|es|s|ed|e)$/, "");
    const meant = MEANS[word] ?? MEANS[stem];
    return meant === undefined ? [stem] : [stem, meant.replace(/(e)$/, "")];
  });
}

function helpOn(byName: ReadonlyMap<string, Tool>, name: string): string {
  const tool = byName.get(canonicalName(name));
  if (tool) return declaration(tool);
  const close = nearest(name, byName.keys());
  throw new Fault("unknown_tool", `There is no tool ${name.slice(0, 60)}.`, {
    hint: close ? `Did you mean ${close}?` : 'tools.search("words") finds one.',
  });
}
