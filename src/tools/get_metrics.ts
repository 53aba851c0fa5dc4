import * as z from "zod";
import { defineTool } from "../core/tool.ts";

const figures = z.object({
  calls: z.int(),
  errors: z.int(),
  p50_ms: z.number(),
  p95_ms: z.number(),
  p99_ms: z.number(),
});

export const get_metrics = defineTool({
  name: "get_metrics",
  title: "Metrics",
  description: "Calls, errors, latency percentiles and tokens since start.",
  effects: ["read"],
  input: z.object({}),
  output: () =>
    z.object({
      enabled: z.boolean(),
      uptime_s: z.number(),
      calls: z.int(),
      errors: z.record(z.string(), z.int()),
      tokens_in: z.int(),
      tokens_out: z.int(),
      tools: z.record(z.string(), figures),
      te: figures.omit({ errors: true }),
    }),
  never_late: true,
  async run(_args, ctx) {
    return ctx.metrics();
  },
});
