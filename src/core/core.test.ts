import { createHash, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { countTokens as exact } from "gpt-tokenizer/encoding/o200k_base";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { createBed, LOCAL } from "../../tests/harness/bed.ts";
import { fc } from "../../tests/harness/random.ts";
import { Fault } from "../base/fault.ts";
import { createGate } from "../base/gate.ts";
import { bound, prefix } from "./bound.ts";
import type { ToolContext } from "./context.ts";
import { timed } from "./ended.ts";
import { renderPayload } from "./reply.ts";
import { validate, wireInput } from "./schema.ts";
import { atMostTokens, countTokens } from "./tokens.ts";
import { defineTool } from "./tool.ts";

const sample = defineTool({
  name: "sample",
  title: "Sample",
  description: "A tool of the tests.",
  effects: ["read"],
  input: z.object({
    path: z.string(),
    count: z.int().min(1).max(9).default(3),
    text: z.string().optional(),
    other: z.string().optional(),
  }),
  output: () => z.object({ content: z.string() }),
  bulk: "content",
  argument_aliases: { file: "path" },
  run: async ({ path }) => ({ content: path }),
});

function refusal(args: unknown, tool = sample): string {
  try {
    validate(tool, args);
  } catch (error) {
    const fault = error as Fault;
    expect(fault.code).toBe("invalid_args");
    return `${fault.message} ${fault.hint ?? ""}`;
  }
  throw new Error("nothing was refused");
}

describe("arguments", () => {
  it("get their defaults, lose their nulls and know their aliases", () => {
    expect(validate(sample, { path: "x", text: null })).toEqual({ path: "x", count: 3 });
    expect(validate(sample, { file: "x" })).toEqual({ path: "x", count: 3 });
  });

  it("are refused with a sentence that says what to do", () => {
    expect(refusal({})).toContain("sample needs path.");
    expect(refusal({ pth: "x" })).toContain("It has no argument pth.");
    expect(refusal({ path: "x", cuont: 1 })).toContain("Did you mean count?");
    expect(refusal({ path: "x", count: 10 })).toMatch(/count: .*9/);
    expect(refusal({ path: 3 })).toContain("path:");
    expect(refusal([])).toContain("takes an object");
    expect(refusal({ path: "a", file: "b" })).toContain("give one");
    expect(refusal(JSON.parse('{"path":"x","__proto__":{"count":5}}'))).toContain("__proto__");
  });

  it("that exclude each other are checked, and stated in the full dialect only", () => {
    const either = { ...sample, exactly_one: ["text", "other"] };
    expect(refusal({ path: "x" }, either)).toContain("none was given");
    expect(refusal({ path: "x", text: "a", other: "b" }, either)).toContain("text and other were given");
    expect(wireInput(either, "portable")["oneOf"]).toBeUndefined();
    expect(wireInput(either, "full")["oneOf"]).toHaveLength(2);
  });

  it("are described without what costs tokens and tells nothing", () => {
    expect(JSON.stringify(wireInput(sample, "portable"))).toBe(
      '{"type":"object","properties":{"path":{"type":"string"},"count":{"default":3,"type":"integer","maximum":9},"text":{"type":"string"},"other":{"type":"string"}},"required":["path"]}',
    );
  });
});

describe("replies", () => {
  const payload = { content: 'say "hi"\n', handle: null, meta: { path: "x", gone: null } };

  it("are the contract's JSON in json", () => {
    expect(JSON.parse(renderPayload(sample, payload, {}, "json"))).toEqual(payload);
  });

  it("are a line of JSON, an empty line and the bulk in lean", () => {
    expect(renderPayload(sample, payload, {}, "lean")).toBe('{"meta":{"path":"x"}}\n\nsay "hi"\n');
  });
});

describe("the token estimate", () => {
  const texts: Record<string, string> = {
    code: readFileSync(new URL("./dispatch.ts", import.meta.url), "utf8"),
    "a lock file": readFileSync(new URL("../../package-lock.json", import.meta.url), "utf8").slice(0, 40_000),
    prose: readFileSync(new URL("../../README.md", import.meta.url), "utf8"),
    base64: randomBytes(9000).toString("base64"),
    hex: createHash("sha512").update("x").digest("hex").repeat(80),
    chinese: "数据库连接失败，请检查配置文件。".repeat(200),
    emoji: "😀👨‍👩‍👧🚀".repeat(300),
    signs: "!@#$%^&*(){}[]".repeat(500),
    "rare scripts": Array.from({ length: 3000 }, (_, index) => String.fromCodePoint(0x1000 + index)).join(""),
  };
  it.each(Object.keys(texts))("is not more than a quarter too low for %s", (name) => {
    expect(countTokens(texts[name]!)).toBeGreaterThan(exact(texts[name]!) * 0.75);
  });

  it("is never more than what is known without counting", () => {
    const text = fc.oneof(fc.string(), fc.string({ unit: "binary" }), fc.string({ unit: "grapheme" }));
    fc.assert(fc.property(text, (any) => countTokens(any) <= atMostTokens(any)));
  });
});

describe("the bound of an answer", () => {
  const bounds = (format: "json" | "lean") => ({
    format,
    max_tokens: 500,
    owner: LOCAL,
    handles: async () => {
      throw new Fault("store_unavailable", "no store");
    },
    onStoreFault: () => {},
  });

  it("holds for hostile text in both formats, also when the store is broken", async () => {
    const contents = [
      randomBytes(60_000).toString("base64"),
      "word ".repeat(50_000),
      '"\\'.repeat(30_000),
      "\n".repeat(90_000),
      "x".repeat(300_000),
      "數據".repeat(30_000),
    ];
    for (const content of contents)
      for (const format of ["json", "lean"] as const) {
        const { text, truncated } = await bound(sample, { content, meta: { path: "x" } }, {}, bounds(format));
        expect(truncated).toBe(true);
        expect(exact(text)).toBeLessThanOrEqual(500);
        if (format === "json") expect(JSON.parse(text).meta.truncated).toBe(true);
      }
  });

  it("shortens lists and keeps the shape", async () => {
    const hits = Array.from({ length: 5000 }, (_, line) => ({ path: "src/a.ts", line }));
    const { text } = await bound({ ...sample, bulk: undefined } as never, { hits, total: 5000 }, {}, bounds("json"));
    const cut = JSON.parse(text) as { hits: unknown[]; total: number; truncated: boolean };
    expect(cut.total).toBe(5000);
    expect(cut.hits.length).toBeGreaterThan(5);
    expect(cut.truncated).toBe(true);
  });

  it("cuts prefixes that are prefixes, at a line's end where one is near", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 3000 }), fc.integer({ min: 1, max: 400 }), (text, tokens) => {
        const cut = prefix(text, tokens);
        expect(text.startsWith(cut)).toBe(true);
        expect(cut.isWellFormed() || !text.isWellFormed()).toBe(true);
      }),
    );
    expect(prefix("one line\n".repeat(1000), 100).endsWith("\n")).toBe(true);
  });
});

describe("the gate", () => {
  it("lets so many through and the rest in order, and forgets who gave up", async () => {
    const gate = createGate(1);
    const signal = new AbortController().signal;
    const leave = await gate.enter(signal);
    const order: string[] = [];
    const quitter = new AbortController();
    const gone = gate.enter(quitter.signal).catch(() => order.push("gave up"));
    const second = gate.enter(signal).then((next) => {
      order.push("second");
      next();
    });
    quitter.abort();
    await gone;
    leave();
    leave();
    await second;
    expect(order).toEqual(["gave up", "second"]);
    const again = await gate.enter(signal);
    await expect(gate.enter(quitter.signal)).rejects.toBe(quitter.signal.reason);
    again();
    (await gate.enter(signal))();
  });

  it("never lets one too many through, however they leave and come", async () => {
    const gate = createGate(2);
    const signal = new AbortController().signal;
    let [inside, most] = [0, 0];
    const pass = async () => {
      const leave = await gate.enter(signal);
      most = Math.max(most, ++inside);
      await Promise.resolve();
      inside--;
      leave();
    };
    await Promise.all(Array.from({ length: 40 }, () => pass().then(pass)));
    expect([inside, most]).toEqual([0, 2]);
  });
});

describe("dispatch", () => {
  it("answers an unknown tool with the name that was meant", async () => {
    await using bed = createBed();
    const reply = await bed.call("raed_file", { path: "x" });
    expect(reply).toMatchObject({ ok: false, fault: { code: "unknown_tool", hint: "Did you mean read_file?" } });
  });

  it("renders a fault in one shape, with the words of the linux tools for them", async () => {
    await using bed = createBed();
    const plain = JSON.parse(await bed.text("read_file", { path: "/etc/passwd" }));
    expect(plain).toEqual({
      error: expect.any(String),
      meta: { error_code: "path_denied", retryable: false, correlation_id: expect.stringMatching(/^[0-9a-f]{8}$/) },
    });
    const linux = JSON.parse(await bed.text("linux_fs_read", { path: "/etc/passwd" }));
    expect(linux.meta.error_code).toBe("INVALID_PATH");
  });

  it.each([
    ["a plain abort", undefined],
    ["the client's own words", new Error("the user pressed stop")],
  ])("takes a cancel with %s as one, not as a failure inside", async (_, reason) => {
    await using bed = createBed();
    const client = new AbortController();
    const code = "while (true);";
    const call = bed.call("execute_code", { language: "javascript", code }, { signal: client.signal });
    setTimeout(() => client.abort(reason), 200);
    expect(await call).toMatchObject({ ok: false, fault: { code: "timeout", message: "The call was cancelled." } });
    expect(readFileSync(`${bed.root}/.llmc/audit/audit.jsonl`, "utf8")).toContain('"error_code":"timeout"');
  });

  it("tells what took too long apart from what was cancelled, also when Node only says that it ended", async () => {
    const waits = defineTool({
      ...sample,
      timed: "read",
      run: async (_, { signal }) => ({ content: await pause(60_000, "done", { signal }) }),
    });
    const started = (control: AbortController, seconds: number) =>
      timed(waits, seconds, control, () =>
        waits.run({ path: "x", count: 3 }, { signal: control.signal } as ToolContext),
      );
    await expect(started(new AbortController(), 0.01)).rejects.toMatchObject({ code: "timeout" });
    const client = new AbortController();
    const cancelled_work = started(client, 60);
    client.abort();
    await expect(cancelled_work).rejects.toBe(client.signal.reason);
  });

  it("uses the caller's correlation id", async () => {
    await using bed = createBed();
    expect((await bed.call("health", {}, { correlation_id: "abc" })).correlation_id).toBe("abc");
  });

  it("takes who a call is for from its arguments, else from the client, else from the configuration", async () => {
    await using bed = createBed({ config: '[mcp.session]\ndefault_agent_id = "configured"\n', files: { a: "" } });
    await bed.payload("stat", { path: "a", agent_id: "argument" }, { session: { agent_id: "client" } });
    await bed.payload("stat", { path: "a" }, { session: { agent_id: "client" } });
    await bed.payload("stat", { path: "a" });
    const agents = readFileSync(`${bed.root}/.llmc/audit/audit.jsonl`, "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).agent_id);
    expect(agents).toEqual(["argument", "client", "configured"]);
  });

  it("keeps a result that is too big behind a handle that every mode can read", async () => {
    const big = Array.from({ length: 30_000 }, (_, index) => `name-${index}.txt`);
    await using bed = createBed({ files: Object.fromEntries(big.slice(0, 3000).map((name) => [`many/${name}`, ""])) });
    const text = await bed.text("list_dir", { path: "many", max_entries: 3000 });
    const head = JSON.parse(text.slice(0, text.indexOf("\n"))) as { truncated: boolean; handle: string };
    expect(head.truncated).toBe(true);
    expect(exact(text)).toBeLessThanOrEqual(8000);
    const rest = await bed.payload<{ data: string }>("read_file", { path: head.handle });
    expect(rest.data).toContain("name-2999.txt");
  });
});
