import * as z from "zod";

/** `[mcp.handles]` */
export const handlesOptions = z.strictObject({
  ttl_s: z.int().min(1).default(86_400).describe("Seconds a handle lives."),
  max_bytes: z
    .int()
    .min(65_536)
    .default(1024 ** 3)
    .describe("Bytes all handles together may hold; beyond, the oldest go."),
  max_count: z.int().min(1).default(10_000).describe("Handles kept at most; beyond, the oldest go."),
  inline_file_bytes: z
    .int()
    .min(0)
    .default(4 * 1024 ** 2)
    .describe(
      "Files up to this size are copied into the store; larger ones are kept by reference and expire when they change.",
    ),
});

export type HandlesOptions = z.output<typeof handlesOptions>;
