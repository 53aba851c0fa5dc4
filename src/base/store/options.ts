import * as z from "zod";

/** `[mcp.store]`: where the state lives that replicas share. */
export const storeOptions = z.strictObject({
  backend: z
    .enum(["sqlite", "postgres"])
    .default("sqlite")
    .describe("sqlite keeps state in state_dir; postgres shares it between replicas."),
  url_env: z
    .string()
    .default("LLMC_STORE_URL")
    .describe("Environment variable with the address of PostgreSQL: postgres://user:password@host/database."),
  max_connections: z.int().min(1).max(100).default(8).describe("Connections of one replica to PostgreSQL at most."),
  connect_retry_s: z
    .number()
    .min(0)
    .max(3600)
    .default(0)
    .describe("How long a start waits for a PostgreSQL that is away; 0 fails at once."),
});

export type StoreOptions = z.output<typeof storeOptions>;
