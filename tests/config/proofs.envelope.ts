import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Bed } from "../harness/bed.ts";
import { differ, type Proof } from "./proof.ts";

interface Answer {
  readonly mode: string;
  readonly stdout: string;
  readonly stderr: string;
  readonly telemetry: { readonly budget_remaining: number };
}

const te = (command: string) => (bed: Bed) => bed.payload<Answer>("te_run", { command });
const LONG = "seq 1 5000";

/** The outcome, or the fault's code. */
const outcome = (command: string) => async (bed: Bed) => {
  const reply = await bed.call("te_run", { command });
  return reply.ok ? (reply.payload as Answer).mode : reply.fault.code;
};

/** What the telemetry holds of the arguments. */
async function keptArguments(bed: Bed): Promise<unknown> {
  await te("echo pear")(bed);
  const db = new DatabaseSync(join(bed.root, ".llmc/telemetry.db"), { readOnly: true });
  const row = db.prepare("SELECT arguments FROM call").get();
  db.close();
  return row;
}

export const ENVELOPE_PROOFS: Record<string, Proof> = {
  "mcp.te.enabled": differ(async (bed) => (await te(LONG)(bed)).mode, "mcp.te.enabled = false"),
  "mcp.te.script_path": differ(async (bed) => (await te("echo hi")(bed)).mode, "mcp.te.script_path = 'missing/te'"),
  "mcp.te.json_mode": differ(
    async (bed) => (await te(LONG)(bed)).stdout.includes("te --handle"),
    "mcp.te.json_mode = false",
  ),
  "mcp.te.timeout": differ(async (bed) => (await te("sleep 1")(bed)).stderr, "mcp.te.timeout = 0.2"),
  "mcp.te.passthrough_on_failure": differ(
    outcome("echo hi"),
    "mcp.te.passthrough_on_failure = false",
    "[mcp]\nmode = 'classic'\n[mcp.te]\nscript_path = 'missing/te'\n",
  ),
  "mcp.te.store_arguments": differ(keptArguments, "mcp.te.store_arguments = true"),
  "tool_envelope.budgets": differ(
    async (bed) => (await te("echo hi")(bed)).telemetry.budget_remaining,
    "tool_envelope.budgets.default = 5000",
  ),
};
