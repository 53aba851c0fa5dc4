import { describe, expect, it } from "vitest";
import { createModels } from "./egress.ts";
import { rlmOptions, rlmPolicyOptions } from "./options.ts";
import { UNKNOWN_PRICE } from "./prices.ts";

function models(policy: Record<string, unknown>, rlm: Record<string, unknown> = {}) {
  const env: Record<string, string> = { OPENAI_API_KEY: "sk-own", OTHER_KEY: "sk-other" };
  return createModels(rlmPolicyOptions.parse(policy), rlmOptions.parse(rlm), (name) => env[name]);
}
const free = { profile: "unrestricted" };
const refusal = (work: () => unknown) => {
  try {
    work();
    return undefined;
  } catch (fault) {
    return fault as { code: string; message: string; hint: string };
  }
};

describe("an allowed model", () => {
  it.each([
    ["ollama_chat/llama3", "ollama", "http://127.0.0.1:11434", true],
    ["ollama/llama3", "ollama", "http://127.0.0.1:11434", true],
    ["openai/gpt-4o", "openai", "https://api.openai.com/v1", false],
    ["anthropic/claude-sonnet-4-5", "anthropic", "https://api.anthropic.com/v1", false],
  ])("%s is spoken to as %s at %s", (root_model, dialect, base_url, is_local) => {
    expect(models(free, { root_model }).root()).toMatchObject({ name: root_model, dialect, base_url, is_local });
  });

  it("of a prefix of the operator's own speaks like OpenAI, at his address, with his key", () => {
    const providers = { lab: { base_url: "http://10.0.0.5:8000/v1/", api_key_env: "OTHER_KEY" } };
    const model = models(free, { root_model: "lab/org/model:1", providers }).root();
    expect(model).toMatchObject({ dialect: "openai", id: "org/model:1", base_url: "http://10.0.0.5:8000/v1" });
    expect(model.key()).toBe("sk-other");
    expect(JSON.stringify(model)).not.toContain("sk-other");
  });

  it("costs nothing on this machine unless it is priced, and what is listed elsewhere", () => {
    expect(models({}, { root_model: "ollama/a" }).root().price.input).toBe(0);
    const pricing = { "ollama/a": { input_usd_per_mtok: 2, output_usd_per_mtok: 3 } };
    expect(models({}, { root_model: "ollama/a", pricing }).root().price).toEqual({
      input: 2,
      cached_input: 2,
      output: 3,
      reasoning: 3,
    });
    expect(models(free, { root_model: "openai/gpt-4o-2024-08-06" }).root().price.output).toBe(10);
  });

  it("without a known price is refused when restricted and counted dear when not", () => {
    const providers = { openai: { base_url: "http://10.0.0.5/v1" } };
    const strict = models(
      { allowed_model_prefixes: ["openai/"], allowed_hosts: ["10.0.0.5"] },
      { root_model: "openai/secret-model", providers },
    );
    expect(refusal(() => strict.root())).toMatchObject({
      code: "egress_denied",
      hint: expect.stringContaining('[rlm.pricing."openai/secret-model"]'),
    });
    expect(models(free, { root_model: "openai/secret-model" }).root().price).toEqual(UNKNOWN_PRICE);
  });
});

describe("what an operator writes", () => {
  it.each(["gpu", "gpu_1.internal", "GPU.internal.", "10.0.0.1", "10.0.0.0/8", "::1", "2001:db8::/32"])(
    "%s is a host that data may go to",
    (host) => expect(rlmPolicyOptions.parse({ allowed_hosts: [host] }).allowed_hosts).toEqual([host]),
  );

  // "10.0.0.1/" was once the network with no bits: every address there is.
  it.each(["10.0.0.1/", "10.0.0.0/33", "10.0.0.0/x", "10.0.0", "999.0.0.1", "gpu:8080", "10.0.0.1:80", "[::1]:80"])(
    "%s is none, and is not taken for one",
    (host) => expect(() => rlmPolicyOptions.parse({ allowed_hosts: [host] })).toThrow("no port, user or path"),
  );
  it.each(["user@gpu", "http://gpu/", "*.internal", "gpu internal", "", "."])("%j is none either", (host) =>
    expect(() => rlmPolicyOptions.parse({ allowed_hosts: [host] })).toThrow(),
  );

  it.each(["http://127.0.0.1@192.0.2.1/", "http://key@gpu/v1", "https://gpu/v1?key=1", "https://gpu/#", "file:///x"])(
    "%s is no address of a model",
    (base_url) => expect(() => rlmOptions.parse({ providers: { lab: { base_url } } })).toThrow(),
  );

  it("in a variable with a line's end is the key without it, and blank is none", () => {
    const key = (value: string) =>
      createModels(rlmPolicyOptions.parse(free), rlmOptions.parse({ root_model: "openai/gpt-4o" }), () => value)
        .root()
        .key();
    expect([key("sk-1\r\n"), key(" ")]).toEqual(["sk-1", undefined]);
  });
});

describe("a refusal says what to change", () => {
  it.each([
    [
      "a name with another prefix",
      {},
      { root_model: "openai/gpt-4o" },
      undefined,
      "allowed_model_prefixes allows ollama_chat/",
    ],
    ["no prefix at all", { allowed_model_prefixes: [] }, { root_model: "ollama/a" }, undefined, "list prefixes"],
    [
      "an override when restricted",
      { allow_model_override: true },
      { root_model: "ollama/a" },
      "ollama/b",
      "Leave model out",
    ],
    ["an override", free, { root_model: "ollama/a" }, "openai/gpt-4o", "allow_model_override = true"],
    ["an unknown prefix", free, { root_model: "nowhere/x" }, undefined, "[rlm.providers.nowhere]"],
    ["a name without one", free, { root_model: "gpt-4o" }, undefined, "rlm.providers"],
  ] as const)("%s", (_name, policy, rlm, override, hint) => {
    expect(refusal(() => models(policy, rlm).root(override))).toMatchObject({
      code: "egress_denied",
      hint: expect.stringContaining(hint),
    });
  });

  it("no model", () =>
    expect(refusal(() => models({}).root())).toMatchObject({ hint: expect.stringContaining("rlm.root_model") }));

  it("and an override that is allowed, or that names the configured model, is none", () => {
    const open = models({ ...free, allow_model_override: true }, { root_model: "ollama/a" });
    expect(open.root("openai/gpt-4o").name).toBe("openai/gpt-4o");
    expect(models({}, { root_model: "ollama/a" }).root("ollama/a").name).toBe("ollama/a");
  });
});
