import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { temp } from "../harness/temp.ts";
import { writes } from "./bed.ts";
import { createEngine, priced } from "./engine.ts";
import { families } from "./families.ts";

const engine = createEngine();
afterAll(() => engine[Symbol.asyncDispose]());
const signal = new AbortController().signal;
const style = { bytes: 40_000, seed: 5, newline: "\n", unicode: true } as const;

describe("a recorded run", () => {
  it("is replayed bit for bit, with no network and nobody listening", async () => {
    using folder = temp();
    const rlm = {
      replay_dir: folder.path,
      pricing: { "ollama_chat/tester": { input_usd_per_mtok: 1, output_usd_per_mtok: 2 } },
    };
    for (const family of families(style)) {
      const script = { troubles: [{ status: 503, retry_after: "0" }, null, "cut" as const] };
      await using at = await engine.start({ rlm, script, policy: { trace: true } });
      const recorded = await at.query(family.task, family.text, { language: family.language, max_turns: 7 });
      const file = join(folder.path, `${recorded.session_id}.jsonl`);
      await using gone = await engine.start({ rlm, policy: { trace: true }, base_url: "http://127.0.0.1:1" });
      const replayed = await gone.rlm.replay(file, { context: Buffer.from(family.text) }, signal);
      expect(JSON.stringify(order(replayed))).toBe(JSON.stringify(order(recorded)));
      expect(gone.server.seen).toHaveLength(0);
    }
  });

  it("holds hashes of what was asked, not the text, and is its owner's alone", async () => {
    using folder = temp();
    await using at = await engine.start({
      rlm: { replay_dir: folder.path },
      script: { model: writes("answer(await llm_query(context.slice(0, 40)))") },
    });
    await at.query("x", `SECRET-WORDS ${"y".repeat(20_000)}`);
    const [name] = readdirSync(folder.path);
    const file = join(folder.path, name!);
    expect(readFileSync(file, "utf8")).not.toContain("SECRET-WORDS");
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it("that cannot be written is not begun, and what was asked before its disk failed is paid for", async () => {
    using folder = temp();
    const replay_dir = join(folder.path, "runs");
    writeFileSync(replay_dir, "a file");
    await using never = await engine.start({ rlm: { replay_dir } });
    expect(await never.code("x", "short")).toBe("write_failed");
    expect(never.server.seen).toHaveLength(0);
    rmSync(replay_dir);
    const model = () => {
      rmSync(replay_dir, { recursive: true });
      return "an answer that nobody keeps";
    };
    await using failing = await engine.start({ rlm: { ...priced(0, 100), replay_dir }, script: { model } });
    let spent = 0;
    const onEnd = ({ total_cost_usd }: { total_cost_usd: number }) => {
      spent = total_cost_usd;
    };
    expect(await failing.code("x", "short", { onEnd })).not.toBe("ok");
    expect(spent).toBeCloseTo(0.4096, 9);
  });

  it("with another text, task or model is an error and never a live call", async () => {
    using folder = temp();
    const rlm = { replay_dir: folder.path };
    const [needle] = families(style);
    await using at = await engine.start({ rlm });
    const { session_id } = await at.query(needle!.task, needle!.text);
    const file = join(folder.path, `${session_id}.jsonl`);
    const before = at.server.seen.length;
    await expect(at.rlm.replay(file, { context: Buffer.from("other") }, signal)).rejects.toMatchObject({
      code: "invalid_args",
    });
    await using other = await engine.start({ rlm: { ...rlm, small_input_bytes: 1_000_000 } });
    await expect(other.rlm.replay(file, { context: Buffer.from(needle!.text) }, signal)).rejects.toMatchObject({
      code: "provider_error",
      message: expect.stringContaining("not_recorded"),
    });
    expect(at.server.seen.length).toBe(before);
    expect(other.server.seen).toHaveLength(0);
    await expect(
      at.rlm.replay(join(folder.path, "absent"), { context: Buffer.from("") }, signal),
    ).rejects.toMatchObject({ code: "invalid_args" });
  });
});

/** Parallel sub-calls end in any order: their entries in the trace are compared as a set. */
function order<T extends { trace?: readonly unknown[] }>(result: T): T {
  return { ...result, trace: [...result.trace!].map((entry) => JSON.stringify(entry)).sort() };
}
