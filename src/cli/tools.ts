import { createApp } from "../app.ts";
import type { Invocation } from "./command.ts";
import { loadFor } from "./where.ts";

export interface SurfaceCost {
  readonly mode: string;
  readonly tools: readonly { readonly name: string; readonly tokens: number }[];
  readonly instructions_tokens: number;
  readonly total_tokens: number;
  readonly total_chars: number;
}

export async function run(invocation: Invocation): Promise<number> {
  const app = createApp(loadFor(invocation));
  const { out } = invocation.terminal;
  try {
    const cost = await surfaceCost(app);
    if (invocation.flags["json"]) {
      const definitions = new Map(app.tools().map((tool) => [tool.name, tool]));
      const tools = cost.tools.map((tool) => ({ ...tool, definition: definitions.get(tool.name) }));
      out(`${JSON.stringify({ ...cost, instructions: app.instructions, tools }, null, 2)}\n`);
      return 0;
    }
    const width = Math.max(12, ...cost.tools.map(({ name }) => name.length));
    const row = (name: string, tokens: number, text: string) =>
      out(`${name.padEnd(width)}  ${String(tokens).padStart(6)}  ${text}\n`);
    out(`mode ${cost.mode}, ${cost.tools.length} tools; tokens by o200k\n\n`);
    for (const [index, tool] of cost.tools.entries()) row(tool.name, tool.tokens, app.tools()[index]!.description);
    row("instructions", cost.instructions_tokens, "");
    row("total", cost.total_tokens, `${cost.total_chars} characters`);
    return 0;
  } finally {
    await app.close();
  }
}

/** What the mode's list and instructions cost every conversation. */
export async function surfaceCost(
  app: Pick<ReturnType<typeof createApp>, "mode" | "tools" | "instructions">,
): Promise<SurfaceCost> {
  const { countTokens } = await import("gpt-tokenizer/encoding/o200k_base");
  const tools = app.tools();
  const text = JSON.stringify(tools) + app.instructions;
  return {
    mode: app.mode.name,
    tools: tools.map((tool) => ({ name: tool.name, tokens: countTokens(JSON.stringify(tool)) })),
    instructions_tokens: countTokens(app.instructions),
    total_tokens: countTokens(JSON.stringify(tools)) + countTokens(app.instructions),
    total_chars: text.length,
  };
}
