import { readFileSync } from "node:fs";
import { afterAll, describe, expect, it } from "vitest";
import type { Progress } from "../../src/engines/rlm/index.ts";
import { LONG, writes } from "./bed.ts";
import { createEngine } from "./engine.ts";
import type { Chat, Trouble } from "./model-server.ts";

const engine = createEngine();
afterAll(() => engine[Symbol.asyncDispose]());
const SHORT = "The code word of Falcon is X.";
const task = "What is the code word of Falcon?";

describe("each dialect", () => {
  it.each([
    ["ollama_chat/m", "/api/chat", false],
    ["ollama_chat/m", "/api/chat", true],
    ["openai/m", "/v1/chat/completions", false],
    ["openai/m", "/v1/chat/completions", true],
    ["anthropic/m", "/v1/messages", false],
    ["lab/m", "/own/chat/completions", false],
  ])("%s speaks at %s, streamed %s", async (root_model, path, streams) => {
    await using at = await engine.start({
      policy: { profile: "unrestricted" },
      rlm: { root_model },
      script: { streams },
    });
    const { answer, budget_summary, model_used } = await at.query(task, SHORT);
    expect(answer).toBe("X");
    expect(model_used).toBe(root_model);
    expect(budget_summary.input_tokens).toBeGreaterThan(20);
    expect(at.server.seen[0]).toMatchObject({ path, chat: { model: "m", max_output_tokens: 4096 } });
    const { authorization, "x-api-key": key } = at.server.seen[0]!.headers;
    if (root_model !== "ollama_chat/m") expect(authorization ?? key).toMatch(/test-key-4711$/);
  });

  it("root and sub model may differ", async () => {
    const rlm = { sub_model: "ollama_chat/small" };
    await using at = await engine.start({ rlm, script: { model: writes("answer(await llm_query('a'))") } });
    await at.query(task, LONG);
    expect(at.server.seen.map(({ chat }) => chat.model)).toEqual(["tester", "small"]);
  });
});

describe("a provider that fails", () => {
  it.each([
    ["429", { status: 429, retry_after: "0" }],
    ["500", { status: 500 }],
    ["503 with a date", { status: 503, retry_after: new Date(0).toUTCString() }],
    ["a dropped connection", "drop"],
    ["a cut answer", "cut"],
  ] as const)("by %s is asked again", async (_name, trouble) => {
    await using at = await engine.start({ script: { troubles: [trouble, trouble] } });
    expect((await at.query(task, SHORT)).answer).toBe("X");
    expect(at.server.seen).toHaveLength(3);
  });

  it.each([
    ["400", { status: 400 }, "bad_request"],
    ["401", { status: 401 }, "auth"],
    ["404", { status: 404 }, "not_found"],
    ["garbage", "garbage", "malformed"],
  ] as const)("by %s is not", async (_name, trouble, kind) => {
    await using at = await engine.start({ script: { troubles: [trouble] } });
    const fault = await at.query(task, SHORT).catch((error: unknown) => error);
    expect(fault).toMatchObject({ code: "provider_error", retryable: false, message: expect.stringContaining(kind) });
    expect(at.server.seen).toHaveLength(1);
  });

  it("for good is given up after four attempts, as something to retry", async () => {
    await using at = await engine.start({ script: { troubles: new Array(9).fill({ status: 500 }) } });
    const fault = await at.query(task, SHORT).catch((error: unknown) => error);
    expect(fault).toMatchObject({
      code: "provider_error",
      retryable: true,
      message: expect.stringContaining("server 500"),
    });
    expect(at.server.seen).toHaveLength(4);
  });

  it("and asks for more patience than there is time is not waited for", async () => {
    await using at = await engine.start({ script: { troubles: [{ status: 429, retry_after: "60" }] } });
    const fault = await at.query(task, SHORT, { timeout_s: 5 }).catch((error: unknown) => error);
    expect(fault).toMatchObject({ code: "provider_error", retryable: true, retry_after_s: 60 });
    expect(at.server.seen).toHaveLength(1);
  });

  it("by not being there says where it was looked for", async () => {
    await using at = await engine.start({ base_url: "http://127.0.0.1:1" });
    const fault = await at.query(task, SHORT, { timeout_s: 1 }).catch((error: unknown) => error);
    expect(fault).toMatchObject({
      code: "provider_error",
      message: expect.stringContaining("ECONNREFUSED"),
      hint: expect.stringContaining("base_url"),
    });
  });

  it("in one slot of a batch leaves the others", async () => {
    const code = "answer(await llm_query_batch(['a', 'b', 'c']))";
    await using at = await engine.start({
      script: { model: writes(code), troubles: [null, { status: 400, message: "too odd" }] },
    });
    const slots = JSON.parse((await at.query(task, LONG)).answer) as unknown[];
    expect(slots.filter((slot) => typeof slot === "string")).toHaveLength(2);
    expect(slots.find((slot) => typeof slot !== "string")).toMatchObject({
      error: { code: "provider_error", retryable: false },
    });
  });

  it("pays for attempts that may have been billed, and not for those that were refused", async () => {
    const pricing = { "ollama_chat/tester": { input_usd_per_mtok: 0, output_usd_per_mtok: 100 } };
    const bill = () => ({ input: 1, output: 1 });
    await using at = await engine.start({
      rlm: { pricing },
      script: { bill, troubles: [{ status: 429, retry_after: "0" }, "cut", { status: 504, retry_after: "0" }] },
    });
    expect((await at.query(task, SHORT, { budget_usd: 5 })).budget_summary.total_cost_usd).toBeCloseTo(
      2 * 0.4096 + 0.0001,
      9,
    );
  });
});

/** How many processes and threads the sandbox's child has. */
function childThreads(): number {
  const pid = engine.sandbox.pid();
  const read = (path: string) => {
    try {
      return readFileSync(path, "utf8");
    } catch {
      return "";
    }
  };
  const tree = (id: string): number =>
    Number(/Threads:\s+(\d+)/.exec(read(`/proc/${id}/status`))?.[1] ?? 0) +
    read(`/proc/${id}/task/${id}/children`)
      .split(" ")
      .filter(Boolean)
      .reduce((sum, child) => sum + tree(child), 0);
  return tree(String(pid));
}

describe("a cancel", () => {
  it.each([
    ["while the root model thinks", { model: () => "", troubles: ["hang"] }],
    ["while a sub-call is under way", { model: writes("await llm_query('x')"), troubles: [null, "hang"] }],
    ["while code runs", { model: writes("for (;;) {}"), troubles: [] }],
    [
      "while a deeper run is under way",
      { model: writes("await rlm_query('x', context)"), troubles: [null, null, "hang"] },
    ],
  ] as const)("%s ends sockets and interpreters", async (_name, given) => {
    const script: { model: (chat: Chat) => string; troubles: (Trouble | null)[] } = {
      ...given,
      troubles: [...given.troubles],
    };
    await using at = await engine.start({ script, rlm: { max_depth: 3 } });
    const stop = new AbortController();
    const reason = new Error("cancelled by the caller");
    const run = at.query(task, LONG, {}, stop.signal).catch((error: unknown) => error);
    const hangs = script.troubles.includes("hang");
    while (at.server.seen.length === 0 || script.troubles.length > 0)
      await new Promise((resolve) => setTimeout(resolve, 5));
    stop.abort(reason);
    expect(await run).toBe(reason);
    while (hangs && at.server.aborted() === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    // Only spare interpreters are left, a thread each, as many as without any run.
    while (engine.sandbox.guests() > 2) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(childThreads()).toBeLessThan(60);
  });
});

describe("progress", () => {
  it("tells each turn and sub-call by counts, and nothing that was read", async () => {
    const code =
      "print('SECRET'); await llm_query_batch(['SECRET', 'b']); if ((await budget()).turns_left === 1) await answer('SECRET')";
    await using at = await engine.start({ script: { model: writes(code) } });
    const told: Progress[] = [];
    await at.query(task, LONG, { max_turns: 3, onProgress: (progress) => told.push(progress) });
    expect(told.map(({ turn, calls }) => [turn, calls])).toEqual([
      [1, 0],
      [1, 1],
      [1, 3],
      [1, 3],
      [2, 3],
      [2, 4],
      [2, 6],
      [2, 6],
    ]);
    expect(JSON.stringify(told)).not.toContain("SECRET");
  });
});
