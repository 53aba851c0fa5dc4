import { type Bed, LOCAL } from "../harness/bed.ts";
import { differ, type Proof } from "./proof.ts";

interface Ran {
  readonly stdout: string;
  readonly stderr: string;
  readonly result: unknown;
  readonly limit?: { readonly name: string };
}

const run = (bed: Bed, code: string, session_id = "none") =>
  bed.payload<Ran>("execute_code", { code, language: "javascript", session_id });
/** The limit that a program meets, if it meets one. */
const met = (code: string) => async (bed: Bed) => (await run(bed, code)).limit?.name;
const fault = async (bed: Bed, code: string, session_id = "none", depth = 0) => {
  const reply = await bed.call("execute_code", { code, language: "javascript", session_id }, { depth });
  return reply.ok ? "ok" : reply.fault.code;
};
const session = async (bed: Bed) =>
  (await bed.payload<{ session_id: string }>("create_session", { language: "javascript" })).session_id;
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

export const SANDBOX_PROOFS: Record<string, Proof> = {
  "mcp.hybrid.include_execute_code": differ(
    (bed) => bed.app.tools().map((tool) => tool.name),
    "mcp.hybrid.include_execute_code = false",
    "[mcp]\nmode = 'hybrid'\n",
  ),
  "mcp.sandbox.wall_s": differ(met("await new Promise((r) => setTimeout(r, 600))"), "mcp.sandbox.wall_s = 0.1"),
  "mcp.sandbox.memory_mb": differ(met("new Uint8Array(4e7)"), "mcp.sandbox.memory_mb = 16"),
  "mcp.sandbox.stdout_bytes": differ(met("console.log('x'.repeat(5000))"), "mcp.sandbox.stdout_bytes = 1024"),
  "mcp.sandbox.stderr_bytes": differ(met("console.error('x'.repeat(5000))"), "mcp.sandbox.stderr_bytes = 1024"),
  "mcp.sandbox.result_bytes": differ(met("'x'.repeat(5000)"), "mcp.sandbox.result_bytes = 1024"),
  "mcp.sandbox.code_bytes": differ((bed) => fault(bed, "1;".repeat(1000)), "mcp.sandbox.code_bytes = 1024"),
  "mcp.sandbox.workspace_mb": differ(
    met("require('fs').writeFileSync('a', new Uint8Array(2e6))"),
    "mcp.sandbox.workspace_mb = 1",
  ),
  "mcp.sandbox.workspace_files": differ(
    met("for (let i = 0; i < 5; i++) require('fs').writeFileSync(String(i), '')"),
    "mcp.sandbox.workspace_files = 3",
  ),
  "mcp.sandbox.max_tool_calls": differ(async (bed) => {
    const sandbox = await bed.app.engines.sandbox();
    const { limit } = await sandbox.execute(LOCAL, {
      code: "for (let i = 0; i < 5; i++) await tools.x().catch(() => {})",
      language: "javascript",
      session: { kind: "none" },
      signal: new AbortController().signal,
      depth: 0,
      callTool: async () => 1,
    });
    return limit?.name;
  }, "mcp.sandbox.max_tool_calls = 3"),
  "mcp.sandbox.max_depth": differ((bed) => fault(bed, "1", "none", 1), "mcp.sandbox.max_depth = 1"),
  "mcp.sandbox.pool": differ(async (bed) => {
    await run(bed, "1");
    await pause(1500);
    return (await bed.app.engines.sandbox()).guests();
  }, "mcp.sandbox.pool = 0"),
  "mcp.sandbox.idle_s": differ(async (bed) => {
    const id = await session(bed);
    await run(bed, "1", id);
    await pause(1500);
    return (await bed.payload<{ sessions: { state: string }[] }>("get_active_sessions")).sessions[0]!.state;
  }, "mcp.sandbox.idle_s = 0.1"),
  "mcp.sandbox.hibernated_ttl_s": differ(async (bed) => {
    const id = await session(bed);
    await pause(150);
    return fault(bed, "1", id);
  }, "mcp.sandbox.hibernated_ttl_s = 0.05"),
  "mcp.sandbox.packages_dir": differ(async (bed) => {
    bed.write("extra/javascript/own.mjs", "export default 5;");
    return (await run(bed, "import own from 'own'; own")).result;
  }, "mcp.sandbox.packages_dir = 'extra'"),
  // A bed has no PATH, and so no bubblewrap.
  "mcp.sandbox.require": differ((bed) => fault(bed, "1"), "mcp.sandbox.require = 'bwrap'"),
};
