import * as z from "zod";
import { defineTool } from "../core/tool.ts";

export const llmc_init = defineTool({
  name: "llmc_init",
  title: "How to use this server",
  description: "How to use these tools.",
  effects: ["read"],
  input: z.object({}),
  output: () => z.object({ text: z.string() }),
  bulk: "text",
  lean: ({ text }) => ({ head: {}, body: text }),
  async run(_args, ctx) {
    return { text: ctx.instructions };
  },
});
