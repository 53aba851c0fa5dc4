/** Runs inside a network of its own: offers the restricted profile every way out, and tells what happened. */
import { createBed } from "../../harness/bed.ts";
import { LONG, rlmConfig, writes } from "../../rlm/bed.ts";
import { startModelServer } from "../../rlm/model-server.ts";
import { ELSEWHERE, PORT, startWorld } from "./world.ts";

export interface Outcome {
  readonly name: string;
  readonly code: string;
  readonly packets: readonly string[];
  readonly arrivals: readonly string[];
  readonly lookups: readonly string[];
}

const task = "What is the code word of Falcon?";
const context = "The code word of Falcon is X.";
const outcomes: Outcome[] = [];
await using world = await startWorld();

async function attempt(name: string, config: string, args: Record<string, unknown> = {}): Promise<void> {
  await using bed = createBed({ config, env: { OPENAI_API_KEY: "k" } });
  const reply = await bed.call("rlm_query", { task, context, timeout_s: 5, ...args });
  outcomes.push(await outcome(name, reply.ok ? "ok" : reply.fault.code));
}

async function outcome(name: string, code: string): Promise<Outcome> {
  return { name, code, packets: await world.packets(), arrivals: world.arrivals(), lookups: world.lookups() };
}

const priced = '[rlm.pricing."ollama_chat/tester"]\ninput_usd_per_mtok = 0\noutput_usd_per_mtok = 0\n';
const at = (host: string, policy = "") => rlmConfig(`http://${host}:${PORT}`, { policy, rlm: priced });

for (const host of [
  ELSEWHERE,
  "evil.test",
  `[::ffff:${ELSEWHERE}]`,
  "[2001:db8::5]",
  "0.0.0.0",
  "[::]",
  "hosts.test",
  "3405803781",
])
  await attempt(host, at(host));

for (const time of ["first", "second"])
  await attempt(`rebind.test, ${time} time`, at("rebind.test", 'allowed_hosts = ["192.0.2.1"]'));
for (const location of [`http://${ELSEWHERE}:${PORT}/`, `//${ELSEWHERE}:${PORT}/`, `http://evil.test:${PORT}/`]) {
  await using server = await startModelServer({ model: () => "never", troubles: [{ status: 307, location }] });
  await attempt(`redirect to ${location}`, rlmConfig(server.url));
}

await attempt("another provider", 'rlm.root_model = "openai/gpt-4o"\n');
await attempt("a model that the call names", at("127.0.0.1"), { model: "openai/gpt-4o" });

{
  // The variables that name a proxy are in this process's environment.
  await using server = await startModelServer({ model: () => "X" });
  await attempt("past the proxies of the environment", rlmConfig(server.url));
  await attempt("past the proxies, by name", rlmConfig(server.url.replace("127.0.0.1", "localhost")));
}
{
  const code = `import socket\nfor host in ("${ELSEWHERE}", "evil.test"):\n    try:\n        socket.create_connection((host, ${PORT}), 1)\n    except Exception:\n        pass\nanswer("tried")`;
  await using server = await startModelServer({ model: writes(code, "python") });
  await attempt("code that a model wrote", rlmConfig(server.url), { context: LONG });
}
for (const host of [ELSEWHERE, "evil.test"]) {
  const config = `[rag.embeddings]\nprovider = "ollama"\nmodel = "m"\nbase_url = "http://${host}:${PORT}"\n`;
  await using bed = createBed({ config, files: { "a.ts": "export const a = 1;\n" } });
  await (await bed.app.engines.rag()).build({}, new AbortController().signal);
  const { note } = await bed.payload<{ note?: string }>("rag_search", { q: "a" });
  outcomes.push(await outcome(`embeddings at ${host}`, note?.includes("Nothing is sent") ? "egress_denied" : "ok"));
}

// What proves that the eye sees: the same ways, opened by the operator.
await attempt("control: unrestricted", at(ELSEWHERE, 'profile = "unrestricted"'));
await attempt("control: an allowed host", at("evil.test", 'allowed_hosts = ["evil.test"]'));
await attempt("control: an allowed network", at(`[::ffff:${ELSEWHERE}]`, 'allowed_hosts = ["203.0.113.0/24"]'));
console.log(JSON.stringify(outcomes));
