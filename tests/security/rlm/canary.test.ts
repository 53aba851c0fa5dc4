import { globSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connect } from "../../harness/client.ts";
import { type Temp, temp } from "../../harness/temp.ts";
import { LONG, rlmConfig, writes } from "../../rlm/bed.ts";
import { type ModelServer, startModelServer } from "../../rlm/model-server.ts";

const CONTEXT = "CANARY-CONTEXT-7f3a";
const FILE = "CANARY-FILE-91bc";
const KEY = "CANARY-KEY-d20e";
const TASK = "CANARY-TASK-5c5c";
const ALL = [CONTEXT, FILE, KEY, TASK];

let server: ModelServer;
let folder: Temp;
let replies = "";
let errors = "";
let stderr = "";
let metrics = "";

/** Reads the canaries, prints them, sends them to sub-calls, and answers with something else. */
const model = writes(
  "const found = search(/CANARY/)[0].text; print(found); print(await llm_query(found)); answer('done')",
);

/** Every kind of ending once, with the log at its loudest and the trace on. */
beforeAll(async () => {
  folder = temp();
  const quoting = (prompt: string) => ({ status: 400, message: `cannot read ${prompt}` });
  const troubles = [
    null,
    null,
    null,
    null,
    quoting(`${FILE} in a line`),
    quoting(`key ${KEY}`),
    { status: 403, message: `${TASK} ${CONTEXT}` },
    "garbage" as const,
    { status: 307, location: `http://192.0.2.1/${KEY}` },
  ];
  server = await startModelServer({ model, troubles });
  const rlm =
    'root_model = "openai/tester"\n[rlm.pricing."openai/tester"]\ninput_usd_per_mtok = 1\noutput_usd_per_mtok = 1\n';
  const policy = 'trace = true\nallowed_model_prefixes = ["openai/"]';
  const config = "[mcp.observability]\nlog_level = 'debug'\ncsv_token_audit_enabled = true\n";
  writeFileSync(join(folder.path, "llmc.toml"), rlmConfig(server.url, { config, policy, rlm }));
  writeFileSync(join(folder.path, "notes.txt"), `${LONG}${FILE} in a line\n${LONG}`);
  writeFileSync(join(folder.path, "short.txt"), `${FILE} in a line\n`);
  const client = await connect(folder.path, "2025-11-25", [], { TEST_KEY: KEY });
  const call = async (args: Record<string, unknown>) => {
    const { text, isError } = await client.call("rlm_query", { task: `find ${TASK}`, ...args });
    if (isError) errors += `${text}\n`;
    else replies += `${text}\n`;
  };
  await call({ path: "notes.txt" });
  await call({ context: `${LONG}${CONTEXT}\n` });
  // A provider that quotes what it was sent: short texts are sent whole.
  for (let trouble = 0; trouble < 2; trouble++) await call({ path: "short.txt" });
  for (let trouble = 0; trouble < 3; trouble++) await call({ context: `${CONTEXT} is short` });
  await call({ path: "notes.txt", budget_usd: 0.01, max_bytes: 10 });
  await call({ context: CONTEXT, model: KEY });
  await call({ context: CONTEXT, timeout_s: 0 });
  await call({ path: `../${FILE}` });
  metrics = (await client.call("get_metrics")).text;
  await client[Symbol.asyncDispose]();
  stderr = client.stderr();
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

const without = (text: string, names = ALL) => expect(names.filter((name) => text.includes(name))).toEqual([]);

describe("canaries in context, file, key and task", () => {
  it("reached the model, and the runs ended in every way", () => {
    expect(JSON.stringify(server.seen.map(({ chat }) => chat))).toContain(FILE);
    expect(server.seen[0]!.headers.authorization).toBe(`Bearer ${KEY}`);
    expect(replies.match(/"answer":"done"/g)).toHaveLength(2);
    expect(server.seen.length).toBeGreaterThanOrEqual(8);
    for (const code of ["provider_error", "egress_denied", "file_too_large", "invalid_args", "path_denied"])
      expect(errors).toContain(code);
  });

  it("are in no trace", () => without(replies));
  it("are in no error, but for a path as its caller wrote it", () => {
    without(errors, [CONTEXT, KEY, TASK]);
    without(errors.replace(`../${FILE}`, ""));
  });
  it("are in no log line", () => {
    expect(stderr).toContain("rlm_query");
    without(stderr);
  });
  it("are in no metric", () => without(metrics));
  it("are in no file that the server keeps, but for the path in the audit", () => {
    const files = globSync("{.llmc,artifacts}/**/*", { cwd: folder.path })
      .map((name) => join(folder.path, name))
      .filter((name) => statSync(name).isFile());
    expect(files.map((name) => name.slice(name.lastIndexOf("/") + 1))).toEqual(
      expect.arrayContaining(["audit.jsonl", "token_audit.csv"]),
    );
    for (const name of files) without(readFileSync(name, "latin1").replaceAll(`../${FILE}`, ""));
  });
  it("and the audit says what ran, on what, with which model and cost", () => {
    const records = readFileSync(join(folder.path, ".llmc/audit/audit.jsonl"), "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    const size = statSync(join(folder.path, "notes.txt")).size;
    expect(records[0]).toMatchObject({
      tool: "rlm_query",
      paths: ["notes.txt"],
      model: "openai/tester",
      error_code: null,
      correlation_id: expect.any(String),
      duration_ms: expect.any(Number),
    });
    expect(records[0]!["cost_usd"]).toBeGreaterThan(0);
    expect(records[0]!["bytes_in"]).toBeGreaterThanOrEqual(size);
    expect(records.find(({ error_code }) => error_code === "egress_denied")).toMatchObject({
      rule: expect.any(String),
    });
  });
});
