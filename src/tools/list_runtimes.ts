import * as z from "zod";
import { defineTool } from "../core/tool.ts";
import { nothing } from "./sandbox-shapes.ts";

export const list_runtimes = defineTool({
  name: "list_runtimes",
  title: "Runtimes",
  description: "Languages of execute_code, their isolation and limits.",
  effects: ["read"],
  input: nothing,
  output: () =>
    z.object({
      runtimes: z.array(
        z.object({
          language: z.string(),
          version: z.string(),
          engine: z.string(),
          isolation: z.string(),
          limits: z.record(z.string(), z.number()),
        }),
      ),
    }),
  lean: ({ runtimes }) => ({
    head: {
      runtimes: runtimes.map(({ language, version, engine }) => `${language} ${version}, ${engine}`),
      isolation: [...new Set(runtimes.map(({ isolation }) => isolation))].join(", "),
      limits: runtimes[0]?.limits,
    },
  }),
  run: async (_args, ctx) => ({ runtimes: await (await ctx.sandbox()).runtimes() }),
});
