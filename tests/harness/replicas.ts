import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Bed, createBed } from "./bed.ts";

export interface Replicas extends AsyncDisposable {
  readonly root: string;
  readonly a: Bed;
  readonly b: Bed;
}

const CONFIG =
  "[mcp]\nmode = 'classic'\n[mcp.store]\nbackend = 'postgres'\n[mcp.limits]\nsoft_deadline_s = 0.3\n[mcp.observability]\ncsv_token_audit_enabled = true\nlog_level = 'error'\n";

/** Two servers on one repository and one database, each with a state folder of its own. */
export function startReplicas(url: string, files: Readonly<Record<string, string>> = {}): Replicas {
  const root = mkdtempSync(join(tmpdir(), "llmc-team-"));
  const states: string[] = [];
  const replica = (config: string | undefined) => {
    const state = mkdtempSync(join(tmpdir(), "llmc-replica-"));
    states.push(state);
    const env = { LLMC_STORE_URL: url, LLMC_STATE_DIR: state };
    return createBed({ root, env, ...(config === undefined ? {} : { config, files }) });
  };
  const a = replica(CONFIG);
  const b = replica(undefined);
  return {
    root,
    a,
    b,
    async [Symbol.asyncDispose]() {
      await Promise.all([a, b].map((bed) => bed[Symbol.asyncDispose]()));
      for (const path of [root, ...states]) rmSync(path, { recursive: true, force: true });
    },
  };
}
