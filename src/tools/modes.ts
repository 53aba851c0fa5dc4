import type { ModeName } from "../core/options.ts";
import type { Tool } from "../core/tool.ts";
import { canonicalName } from "./aliases.ts";
import type { CodeExecutionOptions, HybridOptions } from "./options.ts";

/** What the model is shown, and what code in the sandbox may call. */
export interface Mode {
  readonly name: ModeName;
  readonly direct: readonly Tool[];
  readonly nested: readonly Tool[];
  /** Names in the configuration with no tool behind them, and the like. */
  readonly warnings: readonly string[];
}

interface ModeInput {
  readonly mode: ModeName;
  readonly tools: readonly Tool[];
  readonly disabled: readonly string[];
  readonly bootstrap_tool_name: string;
  readonly hybrid: HybridOptions;
  readonly code_execution: CodeExecutionOptions;
}

const BOOTSTRAP = "llmc_init";
const NAVIGATION = ["read_file", "list_dir"];

/** A mode is a selection from the one list, in the list's order. */
export function selectMode(input: ModeInput): Mode {
  const disabled = new Set(input.disabled.map(canonicalName));
  const enabled = input.tools.filter((tool) => !disabled.has(tool.name));
  const wanted = wantedIn(input);
  const listed = enabled.filter(
    (tool) => tool.name !== BOOTSTRAP && (wanted === undefined || wanted.includes(tool.name)),
  );
  const bootstrap = enabled.filter((tool) => tool.name === BOOTSTRAP && input.bootstrap_tool_name !== "");
  return {
    name: input.mode,
    direct: [...listed, ...bootstrap.map((tool) => ({ ...tool, name: input.bootstrap_tool_name }))],
    nested: enabled,
    warnings: phantoms(input, disabled),
  };
}

function wantedIn(input: ModeInput): readonly string[] | undefined {
  if (input.mode === "classic") return undefined;
  if (input.mode === "code_execution") return input.code_execution.bootstrap_tools.map(canonicalName);
  const { promoted_tools, include_execute_code } = input.hybrid;
  return [...NAVIGATION, ...promoted_tools, ...(include_execute_code ? ["execute_code"] : [])].map(canonicalName);
}

function phantoms(input: ModeInput, disabled: ReadonlySet<string>): string[] {
  const known = new Set(input.tools.map((tool) => tool.name));
  const unknown = (key: string, names: readonly string[]) =>
    names
      .filter((name) => !known.has(canonicalName(name)))
      .map((name) => `${key} names ${name}, and there is no such tool; it is left out.`);
  const off = (key: string, names: readonly string[]) =>
    names
      .filter((name) => disabled.has(canonicalName(name)))
      .map((name) => `${key} names ${name}, which mcp.tools.disabled turns off.`);
  const promoted = input.mode === "hybrid" ? input.hybrid.promoted_tools : [];
  const bootstrap = input.mode === "code_execution" ? input.code_execution.bootstrap_tools : [];
  return [
    ...unknown("mcp.hybrid.promoted_tools", promoted),
    ...unknown("mcp.code_execution.bootstrap_tools", bootstrap),
    ...unknown("mcp.tools.disabled", input.disabled),
    ...off("mcp.hybrid.promoted_tools", promoted),
    ...off("mcp.code_execution.bootstrap_tools", bootstrap),
  ];
}
