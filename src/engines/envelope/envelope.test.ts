import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { mintPrincipal } from "../../base/principal.ts";
import { countTokens } from "../../core/tokens.ts";
import { createEnvelope, type EnvelopeOptions, parseTe, statsTable, teAsk } from "./index.ts";
import { budgetOptions, teOptions } from "./options.ts";

const ME = mintPrincipal("local", 1);
const OTHER = mintPrincipal("token", "other");

function bed(options: Partial<EnvelopeOptions> = {}, base = mkdtempSync(join(tmpdir(), "llmc-te-"))) {
  const kept: string[] = [];
  const open = () =>
    createEnvelope(
      { ...teOptions.parse({}), budgets: budgetOptions.parse({}), ...options },
      { state_dir: base, countTokens, prepare: () => {} },
    );
  let envelope = open();
  return {
    kept,
    base,
    reopen() {
      envelope.close();
      envelope = open();
    },
    stats: (principal = ME) => envelope.stats(principal),
    async run(argv: string[], stdout: string, more: Record<string, unknown> = {}) {
      const watch = envelope.watch();
      watch.push("stdout", Buffer.from(stdout));
      return envelope.finish(watch, {
        who: { agent_id: "claude", session_id: "s1", model: "m", budget_profile: "default" },
        principal: ME,
        argv,
        exit_code: 0,
        timed_out: false,
        signal: null,
        duration_ms: 12,
        handle: undefined,
        keep: async (output) => `res_${kept.push(output)}`,
        ...more,
      });
    },
    [Symbol.dispose]() {
      envelope.close();
      rmSync(base, { recursive: true, force: true });
    },
  };
}

/** No two lines are alike but for their numbers. */
const letters = (n: number) => [...String(n)].map((digit) => "abcdefghij"[Number(digit)]).join("");
const long = Array.from({ length: 3000 }, (_, n) => `line ${letters(n)}\n`).join("");

describe("the envelope", () => {
  it("keeps the whole of what it shortens, and nothing else", async () => {
    using at = bed();
    expect(await at.run(["echo", "hi"], "hi\n")).toMatchObject({
      mode: "passthrough",
      stdout: "hi\n",
      truncated: false,
    });
    expect(at.kept).toEqual([]);
    expect(await at.run(["make"], long)).toMatchObject({ mode: "enriched", handle: "res_1", truncated: true });
    expect(at.kept).toEqual([long]);
  });

  it("makes answers shorter as a session spends its budget, and refuses none", async () => {
    using at = bed({ budgets: { default: 20_000, per_call: 8000 } });
    const sizes: number[] = [];
    let left: number | null = null;
    for (let call = 0; call < 12; call++) {
      const answer = await at.run(["make"], long);
      sizes.push(answer.stdout.length);
      left = answer.budget_remaining;
    }
    expect(left).toBe(0);
    expect(sizes[0]).toBeGreaterThan(3000);
    expect(sizes[11]).toBeLessThan(1500);
    const fresh = await at.run(["make"], long, {
      who: { agent_id: "claude", session_id: "s2", model: "m", budget_profile: "default" },
    });
    expect(fresh.stdout.length).toBe(sizes[0]);
  });

  it("never hides a failure, however little is left", async () => {
    using at = bed({ budgets: { default: 1, per_call: 8000 } });
    const log = `${"ok 1 - fine\n".repeat(2000)}not ok 2001 - pear\n  ---\n  message: 'no price for pear'\n  ...\n1..2001\n`;
    const { stdout } = await at.run(["node", "t.mjs"], log, { exit_code: 1 });
    expect(stdout).toContain("pear");
    expect(stdout).toContain("no price for pear");
  });

  it("takes the row of the profile, then of the agent, then the default; 0 is no limit", async () => {
    using at = bed({ budgets: { default: 1000, claude: 5000, review: 0 } });
    const who = { agent_id: "claude", session_id: "s", model: "m", budget_profile: "default" };
    const left = async (more: object) =>
      (await at.run(["echo"], "hi\n", { who: { ...who, ...more } })).budget_remaining;
    expect(await left({})).toBe(4997);
    expect(await left({ agent_id: "someone" })).toBe(997);
    expect(await left({ budget_profile: "review" })).toBeNull();
  });

  it("tells the telemetry one row a call, which survives a restart and belongs to its caller", async () => {
    using at = bed();
    await at.run(["grep", "-rn", "secret word"], long);
    await at.run(["false"], "", { exit_code: 1 });
    at.reopen();
    const { total, commands, agents } = await at.stats();
    expect(total).toMatchObject({ calls: 2, errors: 1, p50_ms: 12 });
    expect(total.tokens_saved).toBeGreaterThan(1000);
    expect(commands.map(({ name }) => name)).toEqual(["grep", "false"]);
    expect(agents).toMatchObject([{ name: "claude", calls: 2 }]);
    expect((await at.stats(OTHER)).total.calls).toBe(0);
    const db = new DatabaseSync(join(at.base, "telemetry.db"));
    const rows = db.prepare("SELECT * FROM call ORDER BY id").all();
    db.close();
    expect(rows).toMatchObject([
      { agent: "claude", session: "s1", model: "m", command: "grep", arguments: null, mode: "enriched", error: null },
      { command: "false", mode: "passthrough", error: "exit 1" },
    ]);
    expect(JSON.stringify(rows)).not.toContain("secret word");
  });

  it("keeps arguments when it is asked to", async () => {
    using at = bed({ store_arguments: true });
    await at.run(["grep", "-rn", "word"], "x\n");
    const db = new DatabaseSync(join(at.base, "telemetry.db"));
    expect(db.prepare("SELECT arguments FROM call").get()).toEqual({ arguments: "-rn word" });
    db.close();
  });

  it("answers all the same when the telemetry cannot be kept", async () => {
    const file = join(mkdtempSync(join(tmpdir(), "llmc-te-")), "file");
    writeFileSync(file, "");
    using at = bed({}, join(file, "state"));
    expect(await at.run(["echo"], "hi\n")).toMatchObject({ stdout: "hi\n" });
    rmSync(dirname(file), { recursive: true });
  });

  it("shows its figures in a table of 80 columns", async () => {
    using at = bed();
    expect(statsTable(await at.stats())).toBe("No command has been run through te yet.\n");
    for (let n = 0; n < 30; n++) await at.run([`a-command-with-a-long-name-${n}`], long);
    const table = statsTable(await at.stats());
    expect(Math.max(...table.split("\n").map((line) => line.length))).toBeLessThanOrEqual(80);
    expect(table).toMatch(/^command +calls +errors +p50 ms +p95 ms +read +sent +saved$/m);
    expect(table).toContain("and 10 more");
  });
});

describe("the words of te", () => {
  it("are its own up to the command", () => {
    expect(parseTe(["--json", "-i", "ls", "--json"])).toEqual({
      ask: "run",
      raw: true,
      json: true,
      words: ["ls", "--json"],
    });
    expect(parseTe(["--handle", "res_1", "--chunk", "2"])).toEqual({
      ask: "handle",
      json: false,
      handle: "res_1",
      chunk: 2,
    });
    expect(parseTe(["--handle=res_1"])).toMatchObject({ handle: "res_1", chunk: undefined });
    expect(parseTe(["--", "ls"])).toMatchObject({ words: ["ls"] });
    expect(parseTe(["--stats", "--json"])).toEqual({ ask: "stats", json: true });
    expect(parseTe([])).toMatchObject({ ask: "help" });
    for (const words of [["--nothing", "ls"], ["--handle"], ["--chunk", "1", "ls"], ["--handle", "x", "--chunk", "-1"]])
      expect(() => parseTe(words)).toThrow();
  });

  it("leave the command line behind te as it is", () => {
    expect(teAsk({ command: "te --raw grep 'a  b' ." })).toEqual({ ask: "run", raw: true, command: "grep 'a  b' ." });
    expect(teAsk({ argv: ["te", "grep", "a  b"] })).toEqual({ ask: "run", raw: false, argv: ["grep", "a  b"] });
    expect(teAsk({ command: "te --handle res_1 --chunk 3" })).toMatchObject({
      ask: "handle",
      handle: "res_1",
      chunk: 3,
    });
    expect(teAsk({ command: "tea --handle x" })).toBeUndefined();
    expect(() => teAsk({ command: "te --nothing x" })).toThrow(/no option/);
  });
});
