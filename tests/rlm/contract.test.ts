import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { rlm_query } from "../../src/tools/rlm_query.ts";
import { listTools } from "../../src/tools/surface.ts";
import { createRlmBed, LONG } from "./bed.ts";

const FACT = `${LONG}The code word of Falcon is ZEBRA-17.\n${LONG}`;
const task = "What is the code word of Falcon?";

describe("a success", () => {
  it("has data and meta as the contract says, and no error", async () => {
    await using bed = await createRlmBed({ files: { "notes/long.txt": FACT } });
    const payload = await bed.query({ task, path: "notes/long.txt" });
    expect(payload).toEqual({
      data: {
        answer: "ZEBRA-17",
        session_id: expect.stringMatching(/^rlm_[0-9a-z]{16}$/),
        budget_summary: {
          total_cost_usd: 0,
          limit_usd: 1,
          remaining_usd: 1,
          calls: 2,
          input_tokens: expect.any(Number),
          output_tokens: expect.any(Number),
        },
      },
      meta: {
        source: { type: "path", path: "notes/long.txt", bytes_read: FACT.length, truncated: false },
        model_used: "ollama_chat/tester",
        trace_included: false,
        stop_reason: "answer",
        partial: false,
        turns: 2,
      },
    });
    expect(payload).not.toHaveProperty("error");
  });

  it("of a short text is one plain call, and says so", async () => {
    await using bed = await createRlmBed();
    const { data, meta } = await bed.query({ task, context: "The code word of Falcon is OWL-3." });
    expect(data).toMatchObject({ answer: "OWL-3", budget_summary: { calls: 1 } });
    expect(meta).toMatchObject({ stop_reason: "small_input", turns: 1, source: { type: "context" } });
    expect(bed.server.seen).toHaveLength(1);
  });

  it("in the lean format is one line about it, then the answer as it is", async () => {
    await using bed = await createRlmBed({ config: "[mcp.output]\nformat = 'lean'\n" });
    const text = await bed.bed.text("rlm_query", { task, context: FACT });
    expect(text).toBe('{"stop_reason":"answer","cost_usd":0,"calls":2}\n\nZEBRA-17');
  });

  it("never had the text in what the root model was sent", async () => {
    await using bed = await createRlmBed();
    const secret = FACT.replaceAll("A line of the text.", "A line, SECRET-WORDS.");
    await bed.query({ task, context: `x${secret}`, max_turns: 2 });
    const [first] = bed.server.seen;
    expect(JSON.stringify(first!.chat)).not.toContain("SECRET-WORDS");
    expect(first!.chat.prompt).toMatch(/context: text, \d+ characters, 2001 lines, \d+ bytes/);
  });
});

describe("the schema", () => {
  it("is flat on the wire, and has the oneOf in the full dialect", () => {
    const [portable] = listTools([rlm_query], { dialect: "portable", structured: false });
    expect(portable!.inputSchema).not.toHaveProperty("oneOf");
    expect(portable!.inputSchema["required"]).toEqual(["task"]);
    const [full] = listTools([rlm_query], { dialect: "full", structured: false });
    expect(full!.inputSchema["oneOf"]).toEqual([
      { required: ["path"], not: { anyOf: [{ required: ["context"] }] } },
      { required: ["context"], not: { anyOf: [{ required: ["path"] }] } },
    ]);
  });
});

describe("every error code", () => {
  it.each([
    ["neither path nor context", { task: "x" }],
    ["both", { task: "x", path: "a.txt", context: "y" }],
    ["no task", { context: "y" }],
    ["an empty task", { task: "", context: "y" }],
    ["a task too long", { task: "x".repeat(5001), context: "y" }],
    ["budget_usd too small", { task: "x", context: "y", budget_usd: 0.001 }],
    ["max_bytes too small", { task: "x", path: "a.txt", max_bytes: 0 }],
    ["timeout_s too small", { task: "x", context: "y", timeout_s: 0 }],
    ["max_turns too small", { task: "x", context: "y", max_turns: 0 }],
    ["max_turns of the wrong kind", { task: "x", context: "y", max_turns: "many" }],
  ])("invalid_args: %s", async (_name, args) => {
    await using bed = await createRlmBed({ files: { "a.txt": "x" } });
    expect(await bed.code(args)).toBe("invalid_args");
    expect(bed.server.seen).toHaveLength(0);
  });

  it.each([
    ["traversal", { path: "../../etc/passwd" }, ""],
    ["outside the roots", { path: "/etc/hostname" }, "allow_absolute_paths = true"],
    ["absolute", { path: "ROOT/a.txt" }, ""],
    ["home", { path: "~/x" }, ""],
    ["a link that leads out", { path: "out" }, ""],
    ["a device", { path: "zero" }, ""],
    ["a denied name", { path: ".env" }, ""],
    ["a link to a denied name", { path: "harmless.txt" }, ""],
    ["the state folder", { path: ".llmc/x" }, ""],
    ["when paths are off", { path: "a.txt" }, "allow_path = false"],
    ["NUL", { path: "a\0.txt" }, ""],
  ])("path_denied: %s", async (_name, args, policy) => {
    await using bed = await createRlmBed({ policy, files: { "a.txt": "x", ".env": "KEY=1", ".llmc/x": "1" } });
    symlinkSync("/etc/hostname", join(bed.bed.root, "out"));
    symlinkSync("/dev/zero", join(bed.bed.root, "zero"));
    symlinkSync(".env", join(bed.bed.root, "harmless.txt"));
    const reply = await bed.bed.call("rlm_query", { task: "x", path: args.path.replace("ROOT", bed.bed.root) });
    expect(reply).toMatchObject({ ok: false, fault: { code: "path_denied", retryable: false } });
    expect(bed.server.seen).toHaveLength(0);
  });

  it("path_denied names the rule and what to do", async () => {
    await using bed = await createRlmBed({ files: { "my-token.txt": "x" } });
    const reply = await bed.bed.call("rlm_query", { task: "x", path: "my-token.txt" });
    expect(JSON.parse(reply.text)).toMatchObject({
      error: expect.stringMatching(/"\*\*\/\*token\*".*denylist_globs/),
      meta: { error_code: "path_denied", retryable: false },
    });
  });

  it("an absolute path inside the root is read when that is allowed", async () => {
    await using bed = await createRlmBed({
      policy: "allow_absolute_paths = true",
      files: { "a.txt": "The code word of Falcon is X." },
    });
    expect((await bed.query({ task, path: join(bed.bed.root, "a.txt") })).data.answer).toBe("X");
  });

  it("file_not_found, and a folder", async () => {
    await using bed = await createRlmBed();
    mkdirSync(join(bed.bed.root, "folder"));
    expect(await bed.code({ task, path: "absent.txt" })).toBe("file_not_found");
    expect(await bed.code({ task, path: "folder" })).toBe("is_directory");
  });

  it("file_too_large, before anything is read, and what to raise", async () => {
    await using bed = await createRlmBed();
    writeFileSync(join(bed.bed.root, "big.txt"), "x".repeat(300_000));
    const reply = await bed.bed.call("rlm_query", { task, path: "big.txt" });
    expect(reply).toMatchObject({ fault: { code: "file_too_large", hint: expect.stringContaining("max_bytes") } });
    expect(await bed.code({ task: "x", path: "big.txt", max_bytes: 299_999 })).toBe("file_too_large");
  });

  it("egress_denied: a model that the call names", async () => {
    await using bed = await createRlmBed();
    const reply = await bed.bed.call("rlm_query", { task, context: FACT, model: "openai/gpt-4o" });
    expect(reply).toMatchObject({
      fault: { code: "egress_denied", retryable: false, hint: expect.stringMatching(/Leave model out/) },
    });
    expect(bed.server.seen).toHaveLength(0);
  });

  it("egress_denied: a provider elsewhere", async () => {
    const providers =
      '[rlm.providers.ollama]\nbase_url = "http://192.0.2.1:1"\n[rlm.pricing."ollama/x"]\ninput_usd_per_mtok = 0\noutput_usd_per_mtok = 0\n';
    await using bed = await createRlmBed({ rlm: `root_model = "ollama/x"\n${providers}` });
    const reply = await bed.bed.call("rlm_query", { task, context: FACT });
    expect(reply).toMatchObject({
      fault: { code: "egress_denied", hint: expect.stringContaining("mcp.rlm.allowed_hosts") },
    });
  });

  it("budget_exceeded: a call that does not fit is not made, and nothing partial comes back", async () => {
    const pricing = '[rlm.pricing."ollama_chat/tester"]\ninput_usd_per_mtok = 10\noutput_usd_per_mtok = 1000\n';
    await using bed = await createRlmBed({ rlm: pricing });
    const reply = await bed.bed.call("rlm_query", { task, context: FACT, budget_usd: 1 });
    expect(reply).toMatchObject({ fault: { code: "budget_exceeded", retryable: false } });
    expect(JSON.parse(reply.text)).not.toHaveProperty("data");
    expect(bed.server.seen).toHaveLength(0);
  });

  it("timeout", async () => {
    await using bed = await createRlmBed({ script: { troubles: ["hang"] } });
    const reply = await bed.bed.call("rlm_query", { task, context: FACT, timeout_s: 1 });
    expect(reply).toMatchObject({ fault: { code: "timeout", hint: expect.stringContaining("timeout_s") } });
  });

  it("provider_error, with class and message", async () => {
    await using bed = await createRlmBed({ script: { troubles: [{ status: 401, message: "no such key" }] } });
    const reply = await bed.bed.call("rlm_query", { task, context: FACT });
    expect(reply).toMatchObject({ fault: { code: "provider_error", retryable: false } });
    expect(reply.text).toContain("ollama_chat/tester: auth 401: no such key");
  });

  it("internal_error: what fails inside is told by a correlation id, without its text", async () => {
    const broken = () => {
      throw new Error("SECRET-WORDS");
    };
    await using bed = await createRlmBed();
    Object.assign(await bed.bed.app.engines.rlm(), { query: broken });
    const reply = await bed.bed.call("rlm_query", { task, context: FACT });
    expect(JSON.parse(reply.text)).toMatchObject({
      meta: { error_code: "internal_error", correlation_id: expect.any(String) },
    });
    expect(reply.text).not.toContain("SECRET-WORDS");
  });
});
