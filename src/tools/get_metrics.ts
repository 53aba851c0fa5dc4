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
  lean: ({ enabled, tools, te, ...rest }) => ({
    head: { ...(enabled ? {} : { enabled }), ...rest, ...(te.calls > 0 ? { te } : {}) },
    body: [
      "tool calls errors p50 p95 p99 ms",
      ...Object.entries(tools).map(
        ([name, { calls, errors, p50_ms, p95_ms, p99_ms }]) =>
          `${name} ${calls} ${errors} ${p50_ms} ${p95_ms} ${p99_ms}`,
      ),
    ].join("\n"),
  }),
  async run(_args, ctx) {
    return ctx.metrics();
  },
});
