import { setTimeout as sleep } from "node:timers/promises";
import { Fault } from "../fault.ts";
import type { StoreOptions } from "./options.ts";
import { connectPostgres, type Postgres } from "./postgres.ts";
import type { Schema, Store } from "./types.ts";

/** The store of all replicas: one pool a process, made when something first needs it. */
export interface SharedStore {
  open(schema: Schema): Promise<Store>;
  /** Whether it answers; waits for it as long as the configuration says. */
  ready(signal: AbortSignal): Promise<void>;
  /** Versions of the parts that are there; of those that are not yet, none. */
  versions(): Promise<ReadonlyMap<string, number>>;
  close(): Promise<void>;
}

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5000;

/** Nothing without PostgreSQL behind it: then each part keeps a file in the state folder. */
export function createShared(
  options: StoreOptions,
  env: Readonly<Record<string, string | undefined>>,
): SharedStore | undefined {
  if (options.backend === "sqlite") return undefined;
  const url = env[options.url_env];
  if (!url)
    throw new Fault("invalid_args", `mcp.store.backend is postgres, and ${options.url_env} is not set.`, {
      hint: "Set it to postgres://user:password@host/database, or name another variable in mcp.store.url_env.",
    });
  let connected: Promise<Postgres> | undefined;
  const postgres = () => (connected ??= connectPostgres({ url, max_connections: options.max_connections }));

  return {
    open: async (schema) => (await postgres()).open(schema),
    async ready(signal) {
      const end = Date.now() + options.connect_retry_s * 1000;
      for (let pause_ms = FIRST_PAUSE_MS; ; pause_ms = Math.min(LONGEST_PAUSE_MS, pause_ms * 2))
        try {
          return await (await postgres()).ping();
        } catch (error) {
          const left_ms = end - Date.now();
          if (left_ms <= 0 || !(error instanceof Fault) || !error.retryable) throw error;
          await sleep(Math.min(pause_ms, left_ms), undefined, { signal });
        }
    },
    versions: async () => (await postgres()).versions(),
    async close() {
      await (await connected)?.close();
    },
  };
}
