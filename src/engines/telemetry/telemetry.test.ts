import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createBed } from "../../../tests/harness/bed.ts";
import { runBinary } from "../../../tests/harness/cli.ts";
import { temp } from "../../../tests/harness/temp.ts";
import { auditFiles, openAudit } from "./audit.ts";
import { openTokenCsv } from "./csv.ts";
import { createMetrics } from "./metrics.ts";

const CANARY = "canary-7f3a9";

describe("metrics", () => {
  it("count calls, errors and tokens, and know their percentiles", () => {
    const metrics = createMetrics();
    for (let ms = 1; ms <= 100; ms++)
      metrics.observe({ tool: "stat", code: "ok", duration_ms: ms, tokens_in: 2, tokens_out: 3 });
    metrics.observe({ tool: "read_file", code: "path_denied", duration_ms: 1, tokens_in: 0, tokens_out: 0 });
    const { calls, errors, tokens_in, tokens_out, tools } = metrics.snapshot();
    expect({ calls, errors, tokens_in, tokens_out }).toEqual({
      calls: 101,
      errors: { path_denied: 1 },
      tokens_in: 200,
      tokens_out: 300,
    });
    expect(tools["stat"]!.p50_ms).toBeCloseTo(50, -1);
    expect(tools["stat"]!.p99_ms).toBeGreaterThan(95);
    expect(tools["read_file"]).toMatchObject({ calls: 1, errors: 1 });
  });

  it("are exposed for Prometheus with tool and code", async () => {
    const metrics = createMetrics();
    metrics.observe({ tool: "stat", code: "timeout", duration_ms: 3, tokens_in: 1, tokens_out: 1 });
    const text = await metrics.prometheus();
    expect(text).toContain('llmc_tool_calls_total{tool="stat",code="timeout"} 1');
    expect(text).toContain('llmc_tool_duration_seconds_bucket{le="0.005",tool="stat"} 1');
    expect(text).toContain('llmc_tokens_total{direction="out"} 1');
  });
});

describe("the audit", () => {
  const record = {
    time: "t",
    correlation_id: "c",
    principal: "p",
    via: "cli",
    tool: "stat",
    agent_id: "a",
    session_id: "",
    depth: 0,
    paths: [],
    rule: null,
    bytes_in: 0,
    bytes_out: 0,
    duration_ms: 0,
    model: null,
    cost_usd: null,
    error_code: null,
  };

  it("is rotated by size without losing a record, with two writers on one file", () => {
    using folder = temp();
    const path = join(folder.path, "audit/audit.jsonl");
    const options = {
      path,
      rotate_mb: 0.02,
      retention_days: 0,
      onError: (error: unknown) => expect(error).toBeUndefined(),
    };
    const writers = [openAudit(options), openAudit(options)];
    for (let index = 0; index < 1000; index++) writers[index % 2]!.append({ ...record, correlation_id: String(index) });
    for (const writer of writers) writer.close();
    const files = auditFiles(path);
    expect(files.length).toBeGreaterThan(2);
    const ids = files.flatMap((file) =>
      readFileSync(file, "utf8")
        .trim()
        .split("\n")
        .map((line) => Number(JSON.parse(line).correlation_id)),
    );
    expect(ids.sort((a, b) => a - b)).toEqual(Array.from({ length: 1000 }, (_, index) => index));
  });

  it("tells an operator once that it cannot be written, and the call goes on", () => {
    using folder = temp();
    writeFileSync(join(folder.path, "audit"), "a file where a folder should be");
    const errors: unknown[] = [];
    openAudit({
      path: join(folder.path, "audit/audit.jsonl"),
      rotate_mb: 1,
      retention_days: 0,
      onError: (error) => errors.push(error),
    }).append(record);
    expect(errors).toHaveLength(1);
  });

  it("holds paths and the rule that refused, and never contents", async () => {
    await using bed = createBed({ files: { "a.txt": CANARY } });
    await bed.call("read_file", { path: "a.txt" });
    await bed.call("linux_fs_write", { path: ".git/config", content: CANARY });
    await bed.call("read_file", { path: "../../etc/passwd" });
    const text = readFileSync(join(bed.root, ".llmc/audit/audit.jsonl"), "utf8");
    const rows = text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(rows.map(({ tool, paths, rule, error_code }) => [tool, paths[0], rule, error_code])).toEqual([
      ["read_file", "a.txt", null, null],
      ["linux_fs_write", ".git/config", "denied_paths:.git", "path_denied"],
      ["read_file", "../../etc/passwd", "roots", "path_denied"],
    ]);
    expect(text).not.toContain(CANARY);
  });
});

describe("the token audit", () => {
  it("has a row a call, quotes what CSV must quote, disarms formulas and forgets old rows", () => {
    using folder = temp();
    const path = join(folder.path, "deep/tokens.csv");
    const row = {
      time: "2020-01-01T00:00:00Z",
      correlation_id: "c",
      agent_id: '=cmd,"x"',
      session_id: "s",
      tool: "stat",
      tokens_in: 1,
      tokens_out: 2,
      error_code: "",
    };
    openTokenCsv(path, 0).append(row);
    expect(readFileSync(path, "utf8").split("\n")[1]).toBe(`2020-01-01T00:00:00Z,c,"'=cmd,""x""",s,stat,1,2,`);
    openTokenCsv(path, 30).append({ ...row, time: new Date().toISOString() });
    expect(readFileSync(path, "utf8").trim().split("\n")).toHaveLength(2);
  });
});

describe("logs", () => {
  it("hold names, sizes, durations and codes, and nothing of arguments, results or secrets", async () => {
    using folder = temp();
    writeFileSync(
      join(folder.path, "llmc.toml"),
      "[mcp.observability]\nlog_level = 'debug'\ncsv_token_audit_enabled = true\n",
    );
    writeFileSync(join(folder.path, `${CANARY}.txt`), `${CANARY}\n`);
    const calls = [
      ["read_file", { path: `${CANARY}.txt` }],
      ["linux_search_content", { root: ".", pattern: CANARY }],
      ["linux_fs_edit", { path: `${CANARY}.txt`, old_text: "gone", new_text: CANARY }],
      ["run_cmd", { command: `echo ${CANARY}` }],
      [CANARY, { x: CANARY }],
    ] as const;
    for (const [name, args] of calls) {
      const { stderr } = await runBinary(["call", name, JSON.stringify(args), "--root", folder.path], {
        env: { SECRET_TOKEN: CANARY },
      });
      expect(stderr).toContain('"latency_ms"');
      expect(stderr).not.toContain(CANARY);
    }
    const kept = readdirSync(folder.path, { recursive: true, withFileTypes: true }).filter(
      (entry) => entry.isFile() && /csv$/.test(entry.name),
    );
    for (const entry of kept) expect(readFileSync(join(entry.parentPath, entry.name), "utf8")).not.toContain(CANARY);
  });

  it("keep a name with a newline in one record", async () => {
    using folder = temp();
    const { stderr } = await runBinary(["call", 'evil\n{"level":"info"}', "{}", "--root", folder.path]);
    expect(stderr.trim().split("\n")).toHaveLength(1);
  });
});
