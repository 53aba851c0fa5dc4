import * as z from "zod";
import { defineTool } from "../core/tool.ts";
import { runtimeLanguage } from "./sandbox-shapes.ts";

export const list_available_packages = defineTool({
  name: "list_available_packages",
  title: "Packages",
  description: "What code in execute_code can import.",
  effects: ["read"],
  input: z.object({ language: runtimeLanguage.optional() }),
  output: () =>
    z.object({
      packages: z.array(z.object({ name: z.string(), version: z.string().nullable(), language: runtimeLanguage })),
    }),
  lean: ({ packages }) => ({ head: { packages: packages.map(({ name }) => name) } }),
  run: async ({ language }, ctx) => ({ packages: await (await ctx.sandbox()).packages(language) }),
});
