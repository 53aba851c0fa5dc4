import { appendFileSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runBinary } from "../../../tests/harness/cli.ts";
import { connect } from "../../../tests/harness/client.ts";
import { type Temp, temp } from "../../../tests/harness/temp.ts";
import { inTerminal } from "../../../tests/harness/terminal.ts";
import type { AuditRecord } from "../../engines/telemetry/index.ts";
import { frame } from "../top.ts";
import { followAudit } from "./follow.ts";
import { createTally } from "./tally.ts";
import type { Usage } from "./usage.ts";

let folder: Temp;
beforeEach(() => {
  folder = temp();
  mkdirSync(join(folder.path, ".git"));
  writeFileSync(join(folder.path, "a.txt"), "hello\n");
});
afterEach(() => folder[Symbol.dispose]());

const NOON = Date.UTC(2026, 0, 1, 12);
function record(index: number, more: Partial<AuditRecord> = {}): AuditRecord {
  return {
    time: new Date(NOON + index * 1000).toISOString(),
    correlation_id: String(index),
    principal: "local:0",
    via: "stdio",
    tool: "read_file",
    agent_id: "agent",
    session_id: "s",
    depth: 0,
    paths: ["a.txt"],
    rule: null,
    bytes_in: 10,
    bytes_out: 300,
    duration_ms: index,
    model: null,
    cost_usd: null,
    error_code: null,
    ...more,
  };
}

describe("the tally", () => {
  it("tells calls of models from calls of code, and adds up what each read", () => {
    const tally = createTally();
    for (let index = 1; index <= 100; index++) tally.add(record(index));
    tally.add(record(101, { depth: 1, bytes_out: 3000 }));
    tally.add(record(102, { tool: "stat", error_code: "file_not_found", session_id: "t" }));
    const seen = tally.figures(NOON + 110_000);
    expect(seen).toMatchObject({
      calls: 101,
      nested: 1,
      errors: { file_not_found: 1 },
      tokens_sent: 10_100,
      tokens_in_code: 1000,
    });
    expect(seen).toMatchObject({ sessions: 2, active_sessions: 2 });
    expect(seen.tools.map(({ name, calls, errors }) => [name, calls, errors])).toEqual([
      ["read_file", 101, 0],
      ["stat", 1, 1],
    ]);
    expect(Math.abs(seen.p50_ms - 51)).toBeLessThan(2);
    expect(seen.minutes.reduce((sum, count) => sum + count, 0)).toBe(102);
    expect(tally.figures(NOON + 3_600_000)).toMatchObject({ active_sessions: 0 });
  });
});

describe("following the audit", () => {
  it("tells every record once, over rotations and half-written lines", async () => {
    const path = join(folder.path, "audit.jsonl");
    const seen: string[] = [];
    const follower = followAudit(path, new Date(NOON).toISOString(), ({ correlation_id }) => seen.push(correlation_id));
    await follower.poll();
    const line = (index: number) => `${JSON.stringify(record(index))}\n`;
    writeFileSync(path, line(-5) + line(1) + line(2));
    await follower.poll();
    appendFileSync(path, line(3) + line(4).slice(0, 20));
    await follower.poll();
    appendFileSync(path, line(4).slice(20));
    await follower.poll();
    appendFileSync(path, line(5));
    renameSync(path, join(folder.path, "audit-2026.jsonl"));
    writeFileSync(path, line(6));
    await follower.poll();
    await follower.poll();
    expect(seen).toEqual(["1", "2", "3", "4", "5", "6"]);
  });
});

describe("the screen of llmc top", () => {
  const tally = createTally();
  for (let index = 0; index < 60; index++)
    tally.add(
      record(index, {
        tool: `a_tool_with_a_name_that_is_long_${index % 30}`,
        paths: ["p".repeat(200)],
        depth: index % 2,
      }),
    );
  const none = {
    name: "total",
    calls: 0,
    errors: 0,
    p50_ms: 0,
    p95_ms: 0,
    tokens_in: 0,
    tokens_out: 0,
    tokens_saved: 0,
  };
  const usage: Usage = {
    ...tally.figures(NOON + 60_000),
    root: `/${"deep/".repeat(40)}`,
    since: new Date(NOON).toISOString(),
    tokens_saved: 5,
    locks: [
      { resource: "x".repeat(120), class: "file" as never, holder: "me", since: "2026-01-01T00:00:00Z", expires: "" },
    ],
    te: { total: none, commands: [], agents: [] },
  };

  it.each([
    [80, 24],
    [120, 40],
    [60, 12],
  ])("fits %d columns and %d rows", (columns, rows) => {
    const lines = frame(usage, { columns, rows }, false);
    expect(lines.length).toBeLessThanOrEqual(rows);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(columns);
    expect(lines[0]).toMatch(/^llmc top .*\d\d:\d\d:\d\d$/);
  });
});

describe("llmc stats and llmc top", () => {
  it("tell what a client did, in the same figures", async () => {
    await using server = await connect(folder.path);
    for (const path of ["a.txt", "a.txt", "gone.txt"]) await server.call("read_file", { path });
    await server.call("execute_code", {
      language: "javascript",
      code: 'for (let i = 0; i < 5; i++) await tools.stat({ path: "a.txt" })',
    });
    await server.call("run_cmd", { command: "seq 1 3000" });
    const json = JSON.parse((await runBinary(["stats", "--json"], { cwd: folder.path })).stdout) as Usage;
    expect(json).toMatchObject({ calls: 5, nested: 5, errors: { file_not_found: 1 }, sessions: 1 });
    expect(json.te.total.tokens_saved).toBeGreaterThan(1000);
    expect(json.tokens_saved).toBe(json.te.total.tokens_saved + json.tokens_in_code);
    const { stdout } = await runBinary(["stats"], { cwd: folder.path });
    expect(stdout).toMatch(/^read_file +3 +1 /m);
    expect(stdout).toMatch(/^seq +1 /m);
    expect(Math.max(...stdout.split("\n").map((line) => line.length))).toBeLessThanOrEqual(80);
    expect((await runBinary(["top"], { cwd: folder.path })).stdout).toContain("5 calls and 5 by code, 1 error,");
    expect(
      JSON.parse((await runBinary(["stats", "--json", "--since", "2100-01-01"], { cwd: folder.path })).stdout).calls,
    ).toBe(0);
  });

  it("say what to do where there was no call", async () => {
    const { stdout } = await runBinary(["stats", "--since", "2100-01-01"], { cwd: folder.path });
    expect(stdout).toMatch(/^Since 2100.*\nNo calls yet\. .* llmc call list_dir/);
    expect(stdout).not.toContain("p50");
  });

  it("say so where nothing is counted", async () => {
    const { stderr } = await runBinary(["stats"], { cwd: folder.path, env: { LLMC_MCP_AUDIT_ENABLED: "false" } });
    expect(stderr).toBe("mcp.audit.enabled is false: calls are not counted.\n");
  });

  it("draw live, see the next call, and give the screen back", async () => {
    await using session = inTerminal(["top"], { cwd: folder.path });
    await session.shows("0 calls");
    await runBinary(["call", "stat", '{"path":"a.txt"}'], { cwd: folder.path });
    await session.shows("1 call and");
    // A terminal takes the last sign of a full line away when it is told to clear behind it.
    expect(session.raw()).toMatch(/\d\d:\d\d:\d\d(\u001b\[\d*m)?\r/);
    session.press("q");
    expect(await session.ended).toBe(0);
    expect(session.raw().trimEnd().endsWith("\u001b[?25h\u001b[?1049l")).toBe(true);
  });
});
