import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { allKeys } from "../../src/config/keys.ts";
import { type Bed, LOCAL } from "../harness/bed.ts";
import { auditFile, differ, type Proof, ran } from "./proof.ts";
import { ENVELOPE_PROOFS } from "./proofs.envelope.ts";
import { HTTP_PROOFS } from "./proofs.http.ts";
import { OBSERVABILITY_PROOFS } from "./proofs.observability.ts";
import { RAG_PROOFS } from "./proofs.rag.ts";
import { RLM_PROOFS } from "./proofs.rlm.ts";
import { SANDBOX_PROOFS } from "./proofs.sandbox.ts";
import { STORE_PROOFS } from "./proofs.store.ts";

const code = (name: string, args: unknown) => async (bed: Bed) => {
  const reply = await bed.call(name, args);
  return reply.ok ? "ok" : reply.fault.code;
};
const names = (bed: Bed) => bed.app.tools().map((tool) => tool.name);
const hits = async (bed: Bed) =>
  (await bed.payload<{ hits: unknown[] }>("linux_search_content", { root: ".", pattern: "needle" })).hits;

/** Another machine's writer has the file for a while. */
async function holdFor(bed: Bed, path: string, ms: number): Promise<void> {
  await bed.payload("linux_fs_write", { path, content: "x" });
  const db = new DatabaseSync(join(bed.root, ".llmc/locks.db"));
  const insert =
    "INSERT INTO leases (resource, class, tree, holder, pid, started, place, since_ms, expires_ms) VALUES (?, 'CRIT_CODE', 0, 'other', 1, '1', 'elsewhere|1|1', ?, ?)";
  db.prepare(insert).run(join(bed.root, path), Date.now(), Date.now() + ms);
  db.close();
}

/** How long a lock is held for, seen while a write waits for the disk. */
async function leaseSeconds(bed: Bed): Promise<number> {
  const fs = await bed.app.engines.fs();
  for (;;) {
    const write = bed.payload("linux_fs_write", { path: "big.txt", content: "x".repeat(4_000_000) }).then(() => "done");
    const next = () => new Promise<undefined>((resolve) => setImmediate(() => resolve(undefined)));
    while ((await Promise.race([write, next()])) === undefined) {
      const [lease] = await fs.locks();
      if (!lease) continue;
      await write;
      return Math.round((Date.parse(lease.expires) - Date.parse(lease.since)) / 1000);
    }
  }
}

/** Names of the processes below this one. */
function childNames(pid: number | string = process.pid): string[] {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean);
    return children.flatMap((child) => [readFileSync(`/proc/${child}/comm`, "utf8").trim(), ...childNames(child)]);
  } catch {
    return [];
  }
}

const slow = { command: "sleep 2" };

const PROOFS: Record<string, Proof> = {
  ...ENVELOPE_PROOFS,
  ...HTTP_PROOFS,
  ...OBSERVABILITY_PROOFS,
  ...RAG_PROOFS,
  ...RLM_PROOFS,
  ...SANDBOX_PROOFS,
  ...STORE_PROOFS,
  "mcp.enabled": async () => [(await ran("", ["serve"])).code, (await ran("[mcp]\nenabled = false\n", ["serve"])).code],
  "mcp.config_version": async () => [
    (await ran("", ["config", "show"])).code,
    (await ran("[mcp]\nconfig_version = 'v7'\n", ["config", "show"])).code,
  ],
  "mcp.mode": differ(names, "mcp.mode = 'hybrid'"),
  "mcp.bootstrap_tool_name": differ(names, "mcp.bootstrap_tool_name = '00_INIT'"),
  "mcp.schema_dialect": differ((bed) => bed.app.tools(), "mcp.schema_dialect = 'full'"),
  "mcp.state_dir": differ(async (bed) => {
    await bed.call("stat", { path: "a.txt" });
    return existsSync(join(bed.root, ".llmc"));
  }, "mcp.state_dir = 'elsewhere'"),
  "mcp.tools.allowed_roots": differ(code("stat", { path: "../a.txt" }), "mcp.tools.allowed_roots = ['sub', '.']"),
  "mcp.tools.enforce_roots": differ(code("stat", { path: "/etc/hostname" }), "mcp.tools.enforce_roots = false"),
  "mcp.tools.denied_paths": differ(
    code("linux_fs_write", { path: ".vscode", content: "" }),
    "mcp.tools.denied_paths = ['!.vscode']",
  ),
  "mcp.tools.disabled": differ(code("stat", { path: "a.txt" }), "mcp.tools.disabled = ['stat']"),
  "mcp.tools.read_timeout": differ(async (bed) => {
    for (let folder = 0; folder < 300; folder++)
      for (let file = 0; file < 10; file++) bed.write(`tree/${folder}/${file}`, "x");
    return code("linux_fs_list", { path: "tree", depth: 10 })(bed);
  }, "mcp.tools.read_timeout = 0.0001"),
  "mcp.tools.idle_timeout": differ(async (bed) => {
    const call = bed.call("run_cmd", slow);
    while (!childNames().includes("sleep")) await new Promise((resolve) => setTimeout(resolve, 10));
    await bed.app.drain();
    const left = bed.app.dispatch.busy();
    await call;
    return left;
  }, "mcp.tools.idle_timeout = 0.01"),
  "mcp.tools.enable_run_cmd": differ(code("run_cmd", { command: "true" }), "mcp.tools.enable_run_cmd = false"),
  "mcp.tools.run_cmd_allowlist": differ(code("run_cmd", { command: "true" }), "mcp.tools.run_cmd_allowlist = ['ls']"),
  "mcp.tools.run_cmd_trust": differ((bed) => bed.app.warnings().join(), "mcp.tools.run_cmd_trust = 'host'"),
  "mcp.tools.exec_timeout": differ(
    async (bed) => (await bed.payload<{ data: { timed_out: boolean } }>("run_cmd", slow)).data.timed_out,
    "mcp.tools.exec_timeout = 0.3",
  ),
  "mcp.tools.exec_timeout_max": differ(
    code("run_cmd", { command: "true", timeout_s: 100 }),
    "mcp.tools.exec_timeout_max = 40",
  ),
  "mcp.tools.allow_outbound_network": async () => {
    const server = createServer((socket) => socket.end("hello")).listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    const { port } = server.address() as { port: number };
    const script = `import socket\ntry:\n  print(socket.create_connection(("127.0.0.1", ${port}), 2).recv(9).decode())\nexcept OSError:\n  print("refused")\n`;
    const look = async (bed: Bed) => {
      bed.write("net.py", script);
      return (await bed.payload<{ data: { stdout: string } }>("run_cmd", { argv: ["python3", "net.py"] })).data.stdout;
    };
    const seen = await differ(look, "mcp.tools.allow_outbound_network = true")();
    server.close();
    return seen;
  },
  "mcp.tools.proc_max": differ(async (bed) => {
    await bed.call("linux_proc_start", { command: "sleep 30" });
    return code("linux_proc_start", { command: "sleep 30" })(bed);
  }, "mcp.tools.proc_max = 1"),
  "mcp.tools.proc_idle_timeout": differ(async (bed) => {
    const { proc_id } = await bed.payload<{ proc_id: string }>("linux_proc_start", { command: "sleep 30", wait_s: 0 });
    await new Promise((resolve) => setTimeout(resolve, 2500));
    const reply = await bed.call("linux_proc_read", { proc_id, wait_s: 0 });
    return reply.ok ? (reply.payload as { state: string }).state : reply.fault.code;
  }, "mcp.tools.proc_idle_timeout = 0.2"),
  "mcp.tools.proc_kill_foreign": differ(async (bed) => {
    const { spawn } = await import("node:child_process");
    const child = spawn("sleep", ["30"], { stdio: "ignore" });
    const seen = await code("linux_proc_kill", { pid: child.pid, signal: "KILL" })(bed);
    child.kill("SIGKILL");
    return seen;
  }, "mcp.tools.proc_kill_foreign = true"),
  "mcp.tools.executables": differ(
    names,
    "mcp.tools.executables = { lines = { command = ['wc', '-l'], class = 'reader' } }",
  ),
  "mcp.tools.policy": differ(
    code("run_cmd", { command: "ls -l" }),
    "mcp.tools.policy = { ls = { deny_flags = ['-l'] } }",
  ),
  "mcp.linux_ops.roots.allowed_roots": differ(
    code("stat", { path: "../a.txt" }),
    "mcp.linux_ops.roots.allowed_roots = ['sub', '.']",
  ),
  "mcp.linux_ops.roots.enforce_roots": differ(
    code("stat", { path: "/etc/hostname" }),
    "mcp.linux_ops.roots.enforce_roots = false",
  ),
  "mcp.hybrid.promoted_tools": differ(names, "mcp.hybrid.promoted_tools = ['stat']", "[mcp]\nmode = 'hybrid'\n"),
  "mcp.hybrid.bootstrap_budget_warning": differ(
    (bed) => bed.app.warnings(),
    "mcp.hybrid.bootstrap_budget_warning = 100",
    "[mcp]\nmode = 'hybrid'\n",
  ),
  "mcp.code_execution.enabled": differ((bed) => bed.app.mode.name, "mcp.code_execution.enabled = true", ""),
  "mcp.code_execution.bootstrap_tools": differ(
    names,
    "mcp.code_execution.bootstrap_tools = ['stat']",
    "[mcp]\nmode = 'code_execution'\n",
  ),
  "mcp.output.format": differ((bed) => bed.text("read_file", { path: "a.txt" }), "mcp.output.format = 'lean'"),
  "mcp.output.max_tokens": differ(async (bed) => {
    bed.write("long.txt", "some words on a line\n".repeat(300));
    return (await bed.text("read_file", { path: "long.txt" })).length;
  }, "mcp.output.max_tokens = 300"),
  "mcp.output.structured": differ((bed) => bed.app.tools()[0]?.title, "mcp.output.structured = true"),
  "mcp.limits.soft_deadline_s": differ(
    (bed) => bed.text("run_cmd", slow).then((text) => text.includes("running")),
    "mcp.limits.soft_deadline_s = 0.05",
  ),
  "mcp.limits.max_request_bytes": async () => {
    const lines = `${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping", params: { _meta: { x: "y".repeat(3000) } } })}\n`;
    const look = async (config: string) => (await ran(config, ["serve"], lines)).stdout.includes("longer than");
    return [await look(""), await look("[mcp.limits]\nmax_request_bytes = 1024\n")];
  },
  "mcp.limits.max_response_bytes": differ(async (bed) => {
    bed.write("big.txt", "x".repeat(5000));
    return code("read_file", { path: "big.txt" })(bed);
  }, "mcp.limits.max_response_bytes = 2000"),
  "mcp.limits.max_jobs_per_principal": differ(
    async (bed) => {
      await bed.text("run_cmd", slow);
      return (await bed.text("run_cmd", slow)).includes("concurrency_limited");
    },
    "mcp.limits.max_jobs_per_principal = 1",
    "[mcp]\nmode = 'classic'\n[mcp.limits]\nsoft_deadline_s = 0.05\n",
  ),
  "mcp.session.default_agent_id": differ(async (bed) => {
    await bed.call("stat", { path: "a.txt" });
    return JSON.parse(readFileSync(auditFile(bed), "utf8")).agent_id;
  }, "mcp.session.default_agent_id = 'me'"),
  "mcp.session.default_model": differ(async (bed) => {
    bed.write("env.py", "import os\nprint(os.environ['TE_MODEL'])\n");
    return (await bed.payload<{ data: { stdout: string } }>("run_cmd", { argv: ["python3", "env.py"] })).data.stdout;
  }, "mcp.session.default_model = 'mine'"),
  "mcp.resources.sidecars": differ((bed) => bed.app.resources.list.length, "mcp.resources.sidecars = ['a.txt']"),
  "mcp.search.ignore": differ(hits, "mcp.search.ignore = ['sub']"),
  "mcp.search.hidden": differ(hits, "mcp.search.hidden = true"),
  "mcp.search.count_limit": differ(
    (bed) =>
      bed
        .payload("linux_search_content", { root: ".", pattern: "needle", max_results: 1 })
        .then(({ total_hits, total_hits_is_lower_bound }) => [total_hits, total_hits_is_lower_bound]),
    "mcp.search.count_limit = 1",
  ),
  "mcp.search.max_line_chars": differ(async (bed) => {
    bed.write("sub/b.txt", `${"x".repeat(150)}needle${"y".repeat(100)}\n`);
    return JSON.stringify(await hits(bed)).length;
  }, "mcp.search.max_line_chars = 40"),
  "mcp.handles.ttl_s": differ(async (bed) => {
    const handles = await bed.app.engines.handles();
    const { created_at, expires_at } = await handles.info(LOCAL, await handles.put(LOCAL, "x", { kind: "test" }));
    return Math.round((Date.parse(expires_at) - Date.parse(created_at)) / 1000);
  }, "mcp.handles.ttl_s = 7"),
  "mcp.handles.max_bytes": differ(async (bed) => {
    const handles = await bed.app.engines.handles();
    const first = await handles.put(LOCAL, Buffer.alloc(60_000, 1), { kind: "test" });
    await handles.put(LOCAL, Buffer.alloc(60_000, 2), { kind: "test" });
    return handles.info(LOCAL, first).then(
      () => "kept",
      (fault) => fault.code,
    );
  }, "mcp.handles.max_bytes = 65536"),
  "mcp.handles.max_count": differ(async (bed) => {
    const handles = await bed.app.engines.handles();
    const first = await handles.put(LOCAL, "1", { kind: "test" });
    await handles.put(LOCAL, "2", { kind: "test" });
    return handles.info(LOCAL, first).then(
      () => "kept",
      (fault) => fault.code,
    );
  }, "mcp.handles.max_count = 1"),
  "mcp.handles.inline_file_bytes": differ(async (bed) => {
    const path = bed.write("long.txt", "line\n".repeat(500));
    const { handle } = await bed.payload<{ handle: string }>("linux_fs_read", { path: "long.txt", max_lines: 1 });
    writeFileSync(path, "changed\n");
    return code("linux_handle_read", { handle })(bed);
  }, "mcp.handles.inline_file_bytes = 0"),
  "mcp.maasl.wait_ms": differ(async (bed) => {
    await holdFor(bed, "a.txt", 1500);
    return code("linux_fs_write", { path: "a.txt", content: "x" })(bed);
  }, "mcp.maasl.wait_ms = 20000"),
  "mcp.maasl.lease_s": differ(leaseSeconds, "mcp.maasl.lease_s = 7"),
  "mcp.maasl.batch_wait_ms": differ(async (bed) => {
    await holdFor(bed, "a.txt", 800);
    return code("linux_fs_move", { source: "a.txt", target: "c.txt" })(bed);
  }, "mcp.maasl.batch_wait_ms = 10"),
};

describe("every configuration key", () => {
  it("has a proof, and every proof a key", () => {
    expect(Object.keys(PROOFS).sort()).toEqual(
      allKeys()
        .map((key) => key.path)
        .sort(),
    );
  });

  it.each(Object.keys(PROOFS))("%s changes what happens", async (key) => {
    const [before, after] = await PROOFS[key]!();
    expect(after).not.toEqual(before);
  });
});
