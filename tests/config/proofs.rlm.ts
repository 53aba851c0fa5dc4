import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Fault } from "../../src/base/fault.ts";
import { startHttp } from "../harness/http.ts";
import { temp } from "../harness/temp.ts";
import { createRlmBed, LONG, type RlmBed, rlmConfig, writes } from "../rlm/bed.ts";
import { type Chat, startModelServer } from "../rlm/model-server.ts";
import { programmaticModel } from "../rlm/programmatic-model.ts";
import type { Proof } from "./proof.ts";

const task = "What is the code word of Falcon?";
const SHORT = "The code word of Falcon is X.";
const files = { "a.txt": SHORT, "my-token.txt": SHORT, "big.txt": `${SHORT}${"x".repeat(2000)}` };
type Options = NonNullable<Parameters<typeof createRlmBed>[0]>;

/** The same look at two servers that differ in one line of a section. */
function differ(look: (bed: RlmBed) => unknown, section: "policy" | "rlm", line: string, base: Options = {}): Proof {
  return async () => {
    const seen: unknown[] = [];
    for (const changed of [false, true]) {
      // Keys come before tables.
      const lines = [changed ? line : "", base[section] ?? ""].filter(Boolean).sort(byTable).join("\n");
      await using bed = await createRlmBed({ files, ...base, [section]: lines });
      seen.push(await look(bed));
    }
    return seen as [unknown, unknown];
  };
}

const byTable = (a: string, b: string) => Number(a.includes("[rlm.")) - Number(b.includes("[rlm."));
const ask =
  (args: Record<string, unknown> = {}) =>
  async (bed: RlmBed): Promise<string> =>
    bed.code("path" in args ? { task, ...args } : { task, context: SHORT, ...args });
const open = { policy: 'profile = "unrestricted"' };
const hanging = (): Options => ({ script: { troubles: ["hang"] } });
/** A model that writes no code, and so never answers. */
const mute: Options = { script: { model: () => "I think so." } };
/** One that only prints. */
const printing: Options = { script: { model: writes("print('so far')") } };
const long = async (bed: RlmBed, args: Record<string, unknown> = {}) => {
  const reply = await bed.bed.call("rlm_query", { task, context: LONG, ...args });
  return { calls: bed.server.seen.length, code: reply.ok ? "ok" : reply.fault.code, text: reply.text };
};
const elsewhere = 'root_model = "lab/m"\n[rlm.providers.lab]\nbase_url = "http://127.0.0.1:1/v1"\n';

/** Whether a call over HTTP is served. */
async function overHttp(policy: string): Promise<number> {
  using folder = temp();
  await using models = await startModelServer({ model: programmaticModel });
  writeFileSync(join(folder.path, "llmc.toml"), rlmConfig(models.url, { policy }));
  await using server = await startHttp(folder.path);
  return (await server.post("/tool", { name: "rlm_query", args: { task, context: SHORT } })).status;
}

export const RLM_PROOFS: Record<string, Proof> = {
  "mcp.rlm.enabled": differ(ask(), "policy", "enabled = false"),
  "mcp.rlm.profile": differ(ask(), "policy", 'profile = "unrestricted"', {
    policy: 'allowed_model_prefixes = ["lab/"]',
    // A model of another machine without a price: refused, or counted dear and not reached.
    rlm: elsewhere.replace("127.0.0.1:1", "localhost.invalid:1"),
  }),
  "mcp.rlm.allow_http": async () => [await overHttp(""), await overHttp("allow_http = true")],
  "mcp.rlm.allow_path": differ(ask({ path: "a.txt" }), "policy", "allow_path = false"),
  "mcp.rlm.allow_absolute_paths": differ(
    (bed) => ask({ path: join(bed.bed.root, "a.txt") })(bed),
    "policy",
    "allow_absolute_paths = true",
  ),
  "mcp.rlm.denylist_globs": differ(ask({ path: "my-token.txt" }), "policy", "denylist_globs = []"),
  "mcp.rlm.default_max_bytes": differ(ask({ path: "big.txt" }), "policy", "default_max_bytes = 100"),
  "mcp.rlm.default_timeout_s": async () => {
    const ends: unknown[] = [];
    for (const policy of ["", "default_timeout_s = 1"]) {
      await using bed = await createRlmBed({ policy, ...hanging() });
      const stop = new AbortController();
      const call = bed.bed.call("rlm_query", { task, context: SHORT }, { signal: stop.signal });
      const end = await Promise.race([
        call,
        new Promise((resolve) => setTimeout(() => resolve("still waiting"), 2000)),
      ]);
      ends.push(typeof end === "string" ? end : "over");
      stop.abort(new Fault("timeout", "enough"));
      await call;
    }
    return ends as [unknown, unknown];
  },
  "mcp.rlm.allow_model_override": differ(
    ask({ model: "ollama_chat/other" }),
    "policy",
    "allow_model_override = true",
    open,
  ),
  "mcp.rlm.allowed_model_prefixes": differ(ask(), "policy", 'allowed_model_prefixes = ["openai/"]'),
  "mcp.rlm.allowed_hosts": differ(
    async (bed) =>
      (await bed.bed.call("rlm_query", { task, context: SHORT, timeout_s: 1 })).text.match(/"error_code":"(\w+)"/)?.[1],
    "policy",
    'allowed_hosts = ["192.0.2.0/24"]',
    {
      policy: 'allowed_model_prefixes = ["lab/"]',
      rlm: `${elsewhere.replace("127.0.0.1:1", "192.0.2.1:1")}[rlm.pricing."lab/m"]\ninput_usd_per_mtok = 0\noutput_usd_per_mtok = 0\n`,
    },
  ),
  "mcp.rlm.allow_partial": differ(
    async (bed) => (await long(bed, { max_turns: 1 })).code,
    "policy",
    "allow_partial = true",
    printing,
  ),
  "mcp.rlm.trace": differ(
    async (bed) => (await bed.query({ task, context: SHORT })).meta.trace_included,
    "policy",
    "trace = true",
  ),
  "mcp.rlm.trace_text": differ(
    async (bed) => JSON.stringify((await bed.query({ task, context: SHORT })).data.trace).includes(SHORT),
    "policy",
    "trace_text = true",
    { policy: "trace = true" },
  ),
  "mcp.rlm.max_budget_usd": differ(
    async (bed) => (await bed.query({ task, context: SHORT, budget_usd: 3 })).data.budget_summary,
    "policy",
    "max_budget_usd = 2",
  ),
  "mcp.rlm.max_bytes_limit": differ(ask({ path: "big.txt", max_bytes: 100_000 }), "policy", "max_bytes_limit = 1000"),
  "mcp.rlm.timeout_s_limit": differ(
    async (bed) =>
      (await bed.bed.call("rlm_query", { task, context: SHORT, timeout_s: 2 })).text.match(/longer than (\d) s/)?.[1],
    "policy",
    "timeout_s_limit = 1",
    { script: { model: () => new Promise<string>(() => {}) } },
  ),
  "mcp.rlm.max_turns_limit": differ(
    async (bed) => (await long(bed, { max_turns: 2 })).calls,
    "policy",
    "max_turns_limit = 1",
    mute,
  ),
  "rlm.root_model": differ(
    async (bed) => (await bed.query({ task, context: SHORT })).meta.model_used,
    "rlm",
    'root_model = "ollama_chat/other"',
  ),
  "rlm.sub_model": differ(
    async (bed) => {
      await long(bed);
      return bed.server.seen.map(({ chat }) => chat.model);
    },
    "rlm",
    'sub_model = "ollama_chat/small"',
    { script: { model: writes("answer(await llm_query('x'))") } },
  ),
  "rlm.max_depth": differ(
    async (bed) => JSON.parse((await long(bed)).text).data.answer as string,
    "rlm",
    "max_depth = 1",
    { script: { model: deeper } },
  ),
  "rlm.max_calls": differ(async (bed) => (await long(bed, { max_turns: 3 })).calls, "rlm", "max_calls = 2", mute),
  "rlm.soft_limit": differ(
    async (bed) => {
      await long(bed, { max_turns: 2 });
      return bed.server.seen.at(-1)!.chat.prompt.includes("Warning");
    },
    "rlm",
    "soft_limit = 0.0",
    mute,
  ),
  "rlm.small_input_bytes": differ(
    async (bed) => (await long(bed, { max_turns: 1 })).code,
    "rlm",
    "small_input_bytes = 100000",
    mute,
  ),
  "rlm.replay_dir": differ(
    async (bed) => {
      await bed.query({ task, context: SHORT });
      return readdirSync(bed.bed.root).includes("recordings");
    },
    "rlm",
    'replay_dir = "recordings"',
  ),
  "rlm.providers": differ(ask(), "rlm", elsewhere.replace('root_model = "lab/m"\n', ""), {
    policy: 'allowed_model_prefixes = ["lab/"]',
    rlm: 'root_model = "lab/m"',
  }),
  "rlm.pricing": differ(
    async (bed) => (await bed.query({ task, context: SHORT })).data.budget_summary.total_cost_usd,
    "rlm",
    '[rlm.pricing."ollama_chat/tester"]\ninput_usd_per_mtok = 1\noutput_usd_per_mtok = 1',
  ),
};

/** Goes one level down, and from there answers. */
function deeper({ system, prompt }: Chat): string {
  if (!system.includes("only through code")) return "x";
  const code = prompt.startsWith("Task: below")
    ? "answer('from below')"
    : "answer(await rlm_query('below', context).catch((error) => error.code))";
  return `\`\`\`javascript\n${code}\n\`\`\``;
}
