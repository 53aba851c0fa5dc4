import * as z from "zod";

/** `[mcp.maasl]`: how writers take turns. */
export const maaslOptions = z.strictObject({
  wait_ms: z
    .int()
    .min(0)
    .max(60_000)
    .default(500)
    .describe("How long a write waits for another writer of the same file."),
  lease_s: z
    .int()
    .min(1)
    .max(3600)
    .default(30)
    .describe("After this long a lock that its holder did not renew is free."),
  batch_wait_ms: z
    .int()
    .min(0)
    .max(300_000)
    .default(3000)
    .describe("How long a change of several files waits for all of their locks."),
});

export type MaaslOptions = z.output<typeof maaslOptions>;
