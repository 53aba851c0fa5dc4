import * as z from "zod";
import { defineTool } from "../core/tool.ts";
import { SCOPES } from "../engines/rag/options.ts";

export const rag_bootload = defineTool({
  name: "rag_bootload",
  title: "What to know before a task",
  description: "The repository's rules and where to begin.",
  effects: ["read"],
  input: z.object({ session_id: z.string().max(200), task_id: z.string().max(1000) }),
  output: () => z.object({ plan: z.string(), scope: z.enum(SCOPES), notes: z.string() }),
  bulk: "notes",
  async run(args, ctx) {
    return (await ctx.rag()).bootload(args, ctx.signal);
  },
});
