import type { Loaded } from "../config/load.ts";
import { prepareState, refuseLinkedState } from "../core/state.ts";
import { countTokens } from "../core/tokens.ts";
import type { Envelope } from "../engines/envelope/index.ts";

/** The envelope of a repository, without the rest of the server. */
export async function openEnvelope({ config, state_dir, allowed_roots }: Loaded): Promise<Envelope> {
  refuseLinkedState(state_dir, allowed_roots);
  const { createEnvelope } = await import("../engines/envelope/index.ts");
  const options = { ...config.mcp.te, budgets: config.tool_envelope.budgets };
  return createEnvelope(options, { state_dir, countTokens, prepare: () => prepareState(state_dir) });
}
