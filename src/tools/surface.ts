import { wireInput, wireOutput } from "../core/schema.ts";
import type { Tool } from "../core/tool.ts";

/** A tool as `tools/list` shows it. */
export interface ListedTool {
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  readonly inputSchema: Record<string, unknown> & { type: "object" };
  readonly outputSchema?: Record<string, unknown> & { type: "object" };
  readonly annotations?: { readonly readOnlyHint?: true; readonly destructiveHint?: false };
}

interface SurfaceOptions {
  readonly dialect: "portable" | "full";
  readonly structured: boolean;
}

/** What a model would see, in the list's order. Paid by every conversation: nothing stands here that a default already says. */
export function listTools(tools: readonly Tool[], options: SurfaceOptions): ListedTool[] {
  return tools.map((tool) => {
    const annotations = annotationsOf(tool);
    return {
      name: tool.name,
      ...(options.structured ? { title: tool.title } : {}),
      description: tool.description,
      inputSchema: { type: "object" as const, ...wireInput(tool, options.dialect) },
      ...(options.structured ? { outputSchema: { type: "object" as const, ...wireOutput(tool) } } : {}),
      ...(annotations ? { annotations } : {}),
    };
  });
}

/** Derived from the effects, and only where they differ from what the protocol assumes: not read-only, destructive. */
export function annotationsOf(tool: Tool): ListedTool["annotations"] {
  if (tool.effects.every((effect) => effect === "read")) return { readOnlyHint: true };
  return tool.effects.every((effect) => effect === "read" || effect === "add") ? { destructiveHint: false } : undefined;
}
