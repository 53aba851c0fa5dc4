import { afterAll, describe, expect, it } from "vitest";
import { mintPrincipal } from "../../src/base/principal.ts";
import { LONG, writes } from "./bed.ts";
import { createEngine, priced } from "./engine.ts";

const engine = createEngine();
afterAll(() => engine[Symbol.asyncDispose]());
const FACT = `${LONG}The code word of Falcon is ZEBRA-17.\n${LONG}`;
const task = "What is the code word of Falcon?";

describe("what a caller asks for is capped", () => {
  it("in dollars and turns", async () => {
    const policy = { max_budget_usd: 0.5, max_turns_limit: 3 };
    await using at = await engine.start({ policy, script: { model: writes("print(await budget())") } });
    expect(await at.code(task, LONG, { max_turns: 99, budget_usd: 100 })).toBe("limit_exceeded");
    expect(at.server.seen).toHaveLength(3);
    expect(at.server.seen[1]!.chat.prompt).toContain("limit_usd: 0.5");
  });

  it("in time", async () => {
    await using at = await engine.start({ policy: { timeout_s_limit: 1 }, script: { troubles: ["hang"] } });
    expect(await at.code(task, FACT, { timeout_s: 1000 })).toBe("timeout");
  });

  it("in bytes, whatever it asks for", async () => {
    await using at = await engine.start({ policy: { max_bytes_limit: 50_000 } });
    expect(() => at.rlm.files.checkSize(50_001, 1_000_000)).toThrow(/50000 are allowed/);
    expect(() => at.rlm.files.checkSize(50_000, 1_000_000)).not.toThrow();
    expect(() => at.rlm.files.checkSize(50_000, 10)).toThrow(/10 are allowed/);
  });
});

describe("a partial answer", () => {
  const script = { model: writes("print('so far: 41')") };

  it("comes only where it is configured, and says why it ended", async () => {
    await using none = await engine.start({ script });
    expect(await none.code(task, FACT, { max_turns: 1 })).toBe("limit_exceeded");
    await using some = await engine.start({ script, policy: { allow_partial: true } });
    const expected = { answer: "so far: 41\n", stop_reason: "max_turns" };
    expect(await some.query(task, FACT, { max_turns: 1 })).toMatchObject(expected);
  });

  it("also at the end of the budget and of time", async () => {
    const policy = { allow_partial: true };
    const bill = () => ({ input: 1, output: 4096 });
    await using poor = await engine.start({ policy, rlm: priced(0, 100), script: { ...script, bill } });
    expect((await poor.query(task, FACT, { budget_usd: 0.5 })).stop_reason).toBe("budget");
    await using slow = await engine.start({ policy, script: { ...script, troubles: [null, "hang"] } });
    expect(await slow.query(task, FACT, { timeout_s: 2 })).toMatchObject({
      answer: "so far: 41\n",
      stop_reason: "timeout",
    });
  });
});

describe("the trace", () => {
  it("is off; on, it holds sizes and hashes; text only by a second key", async () => {
    await using off = await engine.start();
    expect((await off.query(task, FACT)).trace).toBeUndefined();
    await using on = await engine.start({ policy: { trace: true } });
    const { trace } = await on.query(task, FACT);
    expect(trace!.map(({ kind }) => kind)).toEqual(["root_call", "cell", "root_call", "cell", "answer"]);
    expect(trace![1]).toMatchObject({
      in_chars: expect.any(Number),
      out_hash: expect.stringMatching(/^[0-9a-f]{16}$/),
    });
    expect(JSON.stringify(trace)).not.toMatch(/ZEBRA|A line|peek/);
    await using text = await engine.start({ policy: { trace: true, trace_text: true } });
    expect(JSON.stringify((await text.query(task, FACT)).trace)).toMatch(/peek.*ZEBRA/);
  });
});

describe("the budget", () => {
  const flood =
    "answer(await llm_query_batch(Array.from({ length: 64 }, (_, i) => 'prompt ' + String(i).padStart(2, '0'))));";
  /** One worst case of such a sub-call, at a dollar a million tokens both ways. */
  const WORST =
    (Buffer.byteLength("Answer the prompt briefly and exactly.") + 32 + Buffer.byteLength("prompt 00") + 32 + 4096) /
    1e6;
  /** The root call is billed at as little as there is, so that the sub-calls have all of the rest. */
  const ROOT = 2 / 1e6;
  const isRoot = (system: string) => system.includes("only through code");

  it("lets exactly as many of 64 parallel calls through as it covers, billed at the worst case", async () => {
    const bill = ({ system }: { system: string }) =>
      isRoot(system) ? { input: 1, output: 1 } : { input: 38 + 9 + 64, output: 4096 };
    await using at = await engine.start({ rlm: priced(1, 1), script: { model: writes(flood), bill, delay_ms: 20 } });
    const { answer, budget_summary } = await at.query(task, LONG, { budget_usd: WORST * 10 + ROOT });
    const slots = JSON.parse(answer) as (string | { error: { code: string } })[];
    expect(at.server.seen.filter(({ chat }) => !isRoot(chat.system))).toHaveLength(10);
    expect(slots.filter((slot) => typeof slot === "string")).toHaveLength(10);
    expect(slots.filter((slot) => typeof slot !== "string" && slot.error.code === "budget_exceeded")).toHaveLength(54);
    expect(budget_summary.total_cost_usd).toBeCloseTo(WORST * 10 + ROOT, 9);
    expect(budget_summary.remaining_usd).toBeGreaterThanOrEqual(0);
  });

  it("never spends more than it has when calls are billed at less, and lets the others wait their turn", async () => {
    const bill = ({ system }: { system: string }) =>
      isRoot(system) ? { input: 1, output: 1 } : { input: 20, output: 300 };
    await using at = await engine.start({ rlm: priced(1, 1), script: { model: writes(flood), bill, delay_ms: 5 } });
    const { answer, budget_summary } = await at.query(task, LONG, { budget_usd: WORST * 10 + ROOT });
    const made = (JSON.parse(answer) as unknown[]).filter((slot) => typeof slot === "string").length;
    expect(made).toBeGreaterThan(10);
    expect(at.server.seen).toHaveLength(made + 1);
    expect(budget_summary.total_cost_usd).toBeCloseTo((made * 320) / 1e6 + ROOT, 9);
    expect(budget_summary.total_cost_usd).toBeLessThanOrEqual(WORST * 10 + ROOT);
    expect(at.server.peak()).toBeLessThanOrEqual(10);
  });

  it("is one for all levels", async () => {
    const code = "print(await rlm_query('x', context).catch((error) => error.code)); print((await budget()).calls)";
    await using at = await engine.start({ script: { model: writes(code) }, rlm: { max_calls: 7 } });
    expect(await at.code(task, LONG, { max_turns: 5 })).toBe("limit_exceeded");
    expect(at.server.seen).toHaveLength(7);
  });

  it("warns the model once when the soft limit is passed", async () => {
    const bill = () => ({ input: 1, output: 1000 });
    await using at = await engine.start({
      rlm: { ...priced(0, 100), soft_limit: 0.3 },
      script: { model: writes("print(1)"), bill },
    });
    expect(await at.code(task, LONG, { budget_usd: 1, max_turns: 5 })).toBe("limit_exceeded");
    const warned = at.server.seen.map(({ chat }) => /Warning: (\d+) % of the budget/.exec(chat.prompt)?.[1]);
    expect(warned).toEqual([undefined, undefined, undefined, "30", undefined]);
  });

  it.each(["no_usage", "absurd_usage", "zero_usage", "nothing_written"] as const)(
    "counts %s as the worst case",
    async (trouble) => {
      await using at = await engine.start({ rlm: priced(0, 100), script: { troubles: [trouble] } });
      const { budget_summary } = await at.query(task, "The code word of Falcon is X.");
      expect(budget_summary.total_cost_usd).toBeCloseTo(0.4096, 9);
    },
  );
});

describe("a run is bounded", () => {
  it("in depth", async () => {
    const code = "answer(await rlm_query('deeper', context).catch((error) => 'refused: ' + error.code))";
    await using at = await engine.start({ script: { model: writes(code) }, rlm: { max_depth: 3 } });
    expect((await at.query(task, LONG)).answer).toBe("refused: limit_exceeded");
    expect(at.server.seen).toHaveLength(3);
  });

  it("in deeper runs at once", async () => {
    const code = "answer((await Promise.all(Array.from({ length: 12 }, () => rlm_query('x', 'short')))).length)";
    await using at = await engine.start({ script: { model: writes(code), delay_ms: 20 } });
    expect((await at.query(task, LONG)).answer).toBe("12");
    expect(at.server.peak()).toBe(4);
  });

  it("in deeper runs at once, all runs of a level together", async () => {
    const code = `const text = context.length > 19000 ? context.slice(0, 17000) : "short";
      answer((await Promise.all(Array.from({ length: 6 }, () => rlm_query("x", text)))).length)`;
    const [script, rlm] = [{ model: writes(code), delay_ms: 20 }, { max_depth: 3 }];
    await using at = await engine.start({ script, rlm });
    expect((await at.query(task, LONG)).answer).toBe("6");
    expect(at.server.seen).toHaveLength(1 + 6 + 36);
    expect(at.server.peak()).toBeLessThanOrEqual(8);
  });

  it("in runs of one caller at once, and the others wait their turn in their own time", async () => {
    const slow = { model: writes("answer(1)"), delay_ms: 30 };
    await using at = await engine.start({ script: slow });
    const other = mintPrincipal("token", "other");
    const mine = Array.from({ length: 10 }, () => at.query(task, LONG));
    const answers = await Promise.all([...mine, at.query(task, LONG, { owner: other })]);
    expect(answers.map(({ answer }) => answer)).toEqual(new Array(11).fill("1"));
    expect(at.server.peak()).toBeLessThanOrEqual(5);
    await using stuck = await engine.start({ script: { troubles: ["hang", "hang", "hang", "hang"] } });
    const codes = Array.from({ length: 5 }, () => stuck.code(task, LONG, { timeout_s: 1 }));
    expect(await Promise.all(codes)).toEqual(new Array(5).fill("timeout"));
    expect(stuck.server.seen.length).toBeLessThanOrEqual(5);
    expect(engine.sandbox.guests()).toBeLessThanOrEqual(2);
  });

  it("in the prompts of a batch", async () => {
    const code = "answer(await llm_query_batch(new Array(257).fill('x')).catch((error) => error.code))";
    await using at = await engine.start({ script: { model: writes(code) } });
    expect((await at.query(task, LONG)).answer).toBe("invalid_args");
  });

  it("in what it prints", async () => {
    await using at = await engine.start({ script: { model: writes("print('x'.repeat(50000))") } });
    expect(await at.code(task, LONG, { max_turns: 2 })).toBe("limit_exceeded");
    expect(at.server.seen[1]!.chat.prompt.length).toBeLessThan(8_500);
    expect(at.server.seen[1]!.chat.prompt).toContain("characters left out");
  });
});

describe("one prompt outside of a run", () => {
  it("is held to the same rules of budget and egress", async () => {
    await using at = await engine.start({ rlm: priced(1, 1), script: { model: ({ prompt }) => `heard ${prompt}` } });
    const signal = new AbortController().signal;
    const limits = { max_output_tokens: 100, budget_usd: 0.01 };
    expect(await at.rlm.complete("a word", limits, signal)).toEqual({
      text: "heard a word",
      cost_usd: expect.any(Number),
    });
    expect(at.server.seen[0]!.chat.max_output_tokens).toBe(100);
    await expect(at.rlm.complete("x".repeat(10_000), { ...limits, budget_usd: 0.001 }, signal)).rejects.toMatchObject({
      code: "budget_exceeded",
    });
    expect(at.server.seen).toHaveLength(1);
  });
});
