import { createApp } from "../app.ts";
import { Fault } from "../base/fault.ts";
import type { SharedStore } from "../base/store/shared.ts";
import type { Schema } from "../base/store/types.ts";
import type { Invocation } from "./command.ts";
import { loadFor } from "./where.ts";

interface PartState {
  readonly part: string;
  /** 0: not made yet. */
  readonly there: number;
  readonly known: number;
}

/** Every part of the state that replicas share. */
async function parts(): Promise<Schema[]> {
  const [{ HANDLES }, { LOCKS }, { SESSIONS }, { TELEMETRY }, { TOKEN_AUDIT }, { RATES }] = await Promise.all([
    import("../engines/handles/index.ts"),
    import("../engines/fs/index.ts"),
    import("../engines/sandbox/index.ts"),
    import("../engines/envelope/index.ts"),
    import("../engines/telemetry/index.ts"),
    import("../transports/http/index.ts"),
  ]);
  return [HANDLES, LOCKS, SESSIONS, TELEMETRY, TOKEN_AUDIT, RATES];
}

export async function storeState(shared: SharedStore): Promise<PartState[]> {
  const versions = await shared.versions();
  return (await parts()).map(({ name, postgres }) => ({
    part: name,
    there: versions.get(name) ?? 0,
    known: postgres.length,
  }));
}

/** Brings every part to the newest schema, before the first replica of a new version starts. */
export const migrate = (invocation: Invocation) =>
  withShared(invocation, async (shared) => {
    const before = await storeState(shared);
    for (const schema of await parts()) await shared.open(schema);
    const changed = before.filter(({ there, known }) => there < known).map(({ part }) => part);
    invocation.terminal.out(changed.length > 0 ? `Migrated: ${changed.join(", ")}.\n` : "Nothing to migrate.\n");
    return 0;
  });

/** Whether this llmc and the store fit. Ends with 1 when replicas would be refused. */
export const check = (invocation: Invocation) =>
  withShared(invocation, async (shared) => {
    await shared.ready(new AbortController().signal);
    const states = await storeState(shared);
    for (const { part, there, known } of states)
      invocation.terminal.out(`${part.padEnd(12)} schema ${there} of ${known}${verdict(there, known)}\n`);
    return states.some(({ there, known }) => there > known) ? 1 : 0;
  });

function verdict(there: number, known: number): string {
  if (there > known) return ": newer than this llmc, which will be refused. Use the newer llmc.";
  return there < known ? ": llmc store migrate, or the first call that needs it, brings it there." : "";
}

async function withShared(invocation: Invocation, work: (shared: SharedStore) => Promise<number>): Promise<number> {
  const app = createApp(loadFor(invocation));
  try {
    if (!app.shared)
      throw new Fault("invalid_args", "State is in SQLite files of the state folder: there is no shared store.", {
        hint: 'Set mcp.store.backend = "postgres" for one.',
      });
    return await work(app.shared);
  } finally {
    await app.close();
  }
}
