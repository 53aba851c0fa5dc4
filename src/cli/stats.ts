import type { Invocation } from "./command.ts";
import { openEnvelope } from "./envelope.ts";
import { loadFor } from "./where.ts";

export async function run(invocation: Invocation): Promise<number> {
  const { statsTable } = await import("../engines/envelope/index.ts");
  const envelope = await openEnvelope(loadFor(invocation));
  try {
    const stats = envelope.stats();
    invocation.terminal.out(invocation.flags["json"] ? `${JSON.stringify(stats)}\n` : statsTable(stats));
    return 0;
  } finally {
    envelope.close();
  }
}
